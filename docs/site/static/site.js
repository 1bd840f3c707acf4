// The search shows parts of the pages that it found. A page opened from a folder may not read others.
if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
