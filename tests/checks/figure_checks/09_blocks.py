"""The signal and the gradient of chapter 09, in twelve layers."""


def check(page, record):
    for form, step in (("branch", 0), ("residual", 0), ("post", 0), ("post", 20), ("warm", 100),
                       ("pre", 100)):
        page.set("form", form)
        page.set("step", step)
        frame, = (one for one in record["trainings"][form] if one["step"] == step)
        page.near("first", frame["gradients"][0])
        page.near("last", frame["gradients"][11])
        page.near("size", frame["sizes"][11])
        page.near("loss", frame["loss"])
        page.near("change", record["trainings"][form][0]["gradients"][0] / frame["gradients"][0])
        heights = page.run("[...document.querySelectorAll('.picture circle')]"
                           ".map((dot) => Number(dot.getAttribute('cy')))")
        page.expect(len(heights) == 24, f"{len(heights)} points")
        rises = frame["gradients"][11] > 2 * frame["gradients"][0]
        page.expect(not rises or heights[23] < heights[12], "the curve falls instead of rising")
    post = {frame["step"]: frame["gradients"][0] for frame in record["trainings"]["post"]}
    page.expect(post[0] > 1 and post[20] < 0.01, "post-norm's gradient does not vanish")
