// In place of the theme's script, which is broken in Debian 12. The pages need none: they follow the
// system's setting of light or dark.
