"""The figures of the documentation that are not of a study, drawn from tables of results. They are SVG that fits a phone, and
follow the reader's choice of light or dark.

Usage: figures.py auto TABLE.md OUT.svg              the table that scripts/auto.sh prints, or a page that holds it
       figures.py growth CURVES.csv OUT.svg          the curves of the study that scripts/growth.sh plays
       figures.py rounds|roofline RESULTS OUT.svg    the CSV files of ./run bench
"""
import csv
import math
import os
import sys
from html import escape

# The colours of src/report/plot.c. In the dark, gbose-auto's is lighter.
AUTO, BLUE, GREEN, PINK, ORANGE, SKY, GREY = "auto", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#808080"
STYLE = """
.paper{fill:#fff} text{fill:#1a1a1a} .soft{fill:#5c5c5c} .grid{stroke:#ddd} .axis{stroke:#808080} .ink{stroke:#1a1a1a}
text{paint-order:stroke;stroke:#fff;stroke-width:3px;stroke-linejoin:round}
.auto.fill{fill:#B00020} .auto.stroke{stroke:#B00020}
@media (prefers-color-scheme:dark){.paper{fill:#16181c} text{fill:#e8e8e8;stroke:#16181c} .soft{fill:#a6a6a6} .grid{stroke:#3a3d44}
.ink{stroke:#e8e8e8} .auto.fill{fill:#ff6b81} .auto.stroke{stroke:#ff6b81}
[stroke="#0072B2"]{stroke:#3391d0} [fill="#0072B2"]{fill:#3391d0}}
"""
WIDTH, FONT, LETTER = 600, 15, 8.6  # pixels; an image of this width is still readable on a phone


class Picture:
    """An SVG under construction."""

    def __init__(self, height, title):
        self.height = height
        self.parts = [f"<title>{escape(title)}</title>", f"<style>{STYLE}</style>",
                      f'<rect class="paper" width="{WIDTH}" height="{height}"/>']

    def text(self, x, y, text, anchor="start", size=FONT, look="", bold=False):
        weight = ' font-weight="bold"' if bold else ""
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" class="{look}"{weight}>'
                          f"{escape(text)}</text>")

    def line(self, x1, y1, x2, y2, colour="", look="", width=1.0, dash=""):
        self.parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke-width="{width}"'
                          + self._paint("stroke", colour, look) + (f' stroke-dasharray="{dash}"' if dash else "") + "/>")

    def dot(self, x, y, colour, radius=5.0, hollow=False, title=""):
        paint = self._paint("stroke" if hollow else "fill", colour)
        rest = ' fill="none" stroke-width="2"' if hollow else ""
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}"{paint}{rest}><title>{escape(title)}</title></circle>')

    def path(self, points, look="", colour="", dash="", title=""):
        d = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        self.parts.append(f'<path d="{d}" fill="none" stroke-width="2"' + self._paint("stroke", colour, look)
                          + (f' stroke-dasharray="{dash}"' if dash else "") + f"><title>{escape(title)}</title></path>")

    def band(self, low, high, colour):
        """The area between two lines."""
        d = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in low + high[::-1])
        self.parts.append(f'<path d="{d}Z" fill="{colour}" fill-opacity="0.2"/>')

    @staticmethod
    def _paint(what, colour, look=""):
        if colour == AUTO:
            return f' class="auto {what} {look}"'
        return (f' {what}="{colour}"' if colour else "") + (f' class="{look}"' if look else "")

    def legend(self, y, entries):
        """Names with a dot of their colour, in lines that fit; the next free y."""
        x = 12.0
        for name, colour, hollow in entries:
            if x + 24 + LETTER * len(name) > WIDTH:
                x, y = 12.0, y + 24
            self.dot(x + 5, y - 5, colour, hollow=hollow)
            self.text(x + 16, y, name)
            x += 36 + LETTER * len(name)
        return y + 24

    def write(self, path):
        with open(path, "w") as f:
            f.write(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {self.height}" width="{WIDTH}" '
                    f'height="{self.height}" font-family="sans-serif">\n' + "\n".join(self.parts) + "\n</svg>\n")


class Log:
    """A logarithmic scale from `low` to `high` on the pixels from `begin` to `end`."""

    def __init__(self, low, high, begin, end):
        self.low, self.high, self.begin, self.end = low, high, begin, end

    def __call__(self, value):
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return self.begin + share * (self.end - self.begin)

    def ticks(self):
        k = math.ceil(math.log10(self.low) - 1e-9)
        while 10.0 ** k <= self.high * (1 + 1e-9):
            unit = max(0, k // 3)
            yield 10.0 ** k, f"{10.0 ** (k - 3 * unit):g}" + ("", "k", "M", "G")[unit]
            k += 1


def rows_on_a_scale(title, legend, rows, label, marks):
    """A row for each case, its name above its marks, on one logarithmic scale. rows: (name, [(low, value, high, colour,
    hollow, title)])."""
    values = [v for _, cells in rows for low, value, high, *_ in cells for v in (low, value, high)]
    height_of_row, left, right = 40, 24, WIDTH - 36
    p = Picture(0, title)
    p.text(12, 26, title, bold=True, size=16)
    top = p.legend(56, legend) + 12
    bottom = top + height_of_row * len(rows)
    scale = Log(min(values) * 0.6, max(values) * 1.3, left, right)
    p.height = int(bottom + 62)
    p.parts[2] = f'<rect class="paper" width="{WIDTH}" height="{p.height}"/>'
    for value, text in scale.ticks():
        p.line(scale(value), top, scale(value), bottom, look="grid")
        p.text(scale(value), bottom + 20, text, "middle")
    for value, text in marks:
        p.line(scale(value), top - 4, scale(value), bottom, look="axis", width=1.5, dash="6 4")
        p.text(scale(value) + 4, top - 2, text, size=13, look="soft")
    p.line(left, bottom, right, bottom, look="axis")
    p.text(WIDTH / 2, bottom + 46, label, "middle")
    for i, (name, cells) in enumerate(rows):
        y = top + height_of_row * i
        p.text(left, y + 16, name, size=13, look="soft")
        for low, value, high, colour, hollow, hover in cells:
            if high > low:
                p.line(scale(low), y + 28, scale(high), y + 28, colour, width=2.5)
            p.dot(scale(value), y + 28, colour, hollow=hollow, title=hover)
    return p


# ---- gbose-auto in its worlds ----

def auto(table, out):
    with open(table) as f:
        lines = f.read().splitlines()
    begin = next(i for i, line in enumerate(lines) if line.startswith("| world |") and "to the best" in line)
    header = [cell.strip() for cell in lines[begin].strip("|").split("|")]
    rows = []
    for line in lines[begin + 2:]:
        if not line.startswith("|"):
            break
        cell = dict(zip(header, (c.strip() for c in line.strip("|").split("|"))))
        own = cell["gbose-auto, quartiles"].replace("**", "").replace("[", "").replace("]", "").replace(",", "").split()
        median, low, high = map(float, own)
        best = min(float(cell[name]) for name in ("gbose", "bose", "action-ts", "semi-ts", "lin-ts"))
        gbose = float(cell["gbose"])
        rows.append((cell["world"].strip("`"), [
            (gbose / best,) * 3 + (BLUE, True, f"gbose: {gbose:g}"),
            (low / best, median / best, high / best, AUTO, False, f"gbose-auto: {median:g} [{low:g}, {high:g}]")]))
    rows_on_a_scale("Regret of gbose-auto in %d worlds" % len(rows),
                    [("gbose-auto, quartiles", AUTO, False), ("gbose, width chosen in hindsight", BLUE, True)], rows,
                    "regret as a multiple of the paper's best learner, tuned in hindsight", [(1, "as good as the best")]).write(out)


# ---- regret against the number of rounds ----

def slope_of(points):
    """Of the least-squares line through log regret against log t, at points that are spread evenly in log t."""
    first, last = math.log(points[0][0]), math.log(points[-1][0])
    even = [min(points, key=lambda p: abs(math.log(p[0]) - first - k * (last - first) / 20)) for k in range(21)]
    x, y = [math.log(p[0]) for p in even], [math.log(p[2]) for p in even]
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    return (sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y)) / sum((a - mean_x) ** 2 for a in x))


def growth(curves, out):
    worlds = {}
    with open(curves, newline="") as f:
        for row in csv.DictReader(f):
            if float(row["round"]) >= 1000:
                worlds.setdefault((row["world"], row["value"]), []).append(
                    tuple(float(row[k]) for k in ("round", "q1", "median", "q3")))
    title = "Regret of gbose against the number of rounds, shift (iii)"
    p = Picture(470, title)
    p.text(12, 26, title, bold=True, size=16)
    top, bottom, left, right = 60, 408, 60, WIDTH - 128
    x, y = Log(1000, 100000, left, right), Log(3, 3000, bottom, top)
    for scale, horizontal in ((x, False), (y, True)):
        for value, text in scale.ticks():
            at = scale(value)
            p.line(*((left, at, right, at) if horizontal else (at, top, at, bottom)), look="grid")
            p.text(*((left - 6, at + 5, text, "end") if horizontal else (at, bottom + 20, text, "middle")))
    p.line(left, bottom, right, bottom, look="axis")
    p.line(left, top, left, bottom, look="axis")
    p.text((left + right) / 2, bottom + 44, "rounds T", "middle")
    p.text(12, 48, "cumulative regret: median, quartiles", size=13, look="soft")
    for text, factor, power, dash in (("like sqrt(T)", 0.12, 0.5, "6 4"), ("like T", 0.003, 1, "2 4")):
        p.line(x(1000), y(factor * 1000 ** power), x(100000), y(factor * 100000 ** power), look="axis", width=1.5, dash=dash)
        p.text(x(35000), y(factor * 35000 ** power) + 20, text, size=13, look="soft")
    for (world, value), points in worlds.items():
        option = dict(part.split("=") for part in world.split(":")[1].split(","))
        slope, name = slope_of(points), f"N = {option.get('arms', 10)}, d = {option.get('dim', 2)}"
        print(f"{world:45s} gamma {value:5s} slope {slope:.2f}")
        p.band([(x(t), y(q1)) for t, q1, _, _ in points], [(x(t), y(q3)) for t, _, _, q3 in points], BLUE)
        p.path([(x(t), y(m)) for t, _, m, _ in points], colour=BLUE, title=f"{name}, gamma = {value}: slope {slope:.2f}")
        end = y(points[-1][2])
        p.text(right + 6, end - 6, name, size=13)
        p.text(right + 6, end + 9, f"slope {slope:.2f}", size=13)
    p.write(out)


# ---- the benchmark ----

def read(results, name):
    with open(os.path.join(results, name), newline="") as f:
        return list(csv.DictReader(f))


def rounds(results, out):
    colours = {"gbose": BLUE, "OpenBLAS forced": GREY, "OpenBLAS": SKY, "BLIS": GREEN, "numpy expert": ORANGE,
               "numpy research": PINK}
    cases = {}
    for row in read(results, "rounds.csv"):
        if row["contender"] in colours:
            us = float(row["microseconds"])
            case = f"{row['learner']}, {row['arms']} arms, {row['dim']} features, {row['state']}"
            cases.setdefault(case, []).append(
                (us, us, us, colours[row["contender"]], row["contender"] != "gbose", f"{row['contender']}: {us:g} us"))
    for cells in cases.values():
        cells.sort(key=lambda cell: cell[3] == BLUE)  # gbose is drawn over the others
    rows_on_a_scale("Time of a round: decide and learn", [(n, c, n != "gbose") for n, c in colours.items()], list(cases.items()),
                    "microseconds of CPU (lower is better)", []).write(out)


def round_flops(n, d):
    """Work and bytes of a fresh round of gbose: as bench/run.py counts them."""
    return (2 * n * d + n * d * d + 3 * d * n * (n - 1) // 2 + 3.5 * d * d,
            8 * n * d + 4 * d * d * ((n + 15) // 16) + 12 * d * d)


def roofline(results, out):
    machine = read(results, "machine.csv")[0]
    peak, bandwidth = float(machine["peak Gflop/s"]), float(machine["bandwidth Gbyte/s"])
    kernels = {"apply": [], "update": []}
    for row in read(results, "kernels.csv"):
        if row["contender"] == "gbose" and row["kernel"] in kernels:
            d = int(row["dim"])
            work, size = (d * (d + 1), 4 * d * d) if row["kernel"] == "apply" else (3.5 * d * d, 12 * d * d)
            kernels[row["kernel"]].append((work / size, 1e-3 * work / float(row["microseconds"]), f"d = {d}"))
    whole = []
    for row in read(results, "rounds.csv"):
        if (row["learner"], row["state"], row["contender"]) == ("gbose", "fresh", "gbose"):
            work, size = round_flops(int(row["arms"]), int(row["dim"]))
            whole.append((work / size, 1e-3 * work / float(row["microseconds"]), f"{row['arms']} arms, d = {row['dim']}"))
    p = Picture(612, "How close to the machine's limits")
    p.text(12, 26, "How close to the machine's limits", bold=True, size=16)
    bottom = p.legend(56, [("y = R x", ORANGE, False), ("rank-one step", GREEN, False), ("whole rounds", BLUE, False)]) + 424
    x, y = Log(0.1, 100, 56, WIDTH - 16), Log(0.3, 2 * peak, bottom, 100)
    for scale, horizontal in ((x, False), (y, True)):
        for value, text in scale.ticks():
            at = scale(value)
            p.line(*((56, at, WIDTH - 16, at) if horizontal else (at, 100, at, bottom)), look="grid")
            p.text(*((50, at + 5, text, "end") if horizontal else (at, bottom + 20, text, "middle")))
    p.line(56, bottom, WIDTH - 16, bottom, look="axis")
    p.line(56, 100, 56, bottom, look="axis")
    p.text(WIDTH / 2, bottom + 44, "flops per byte of memory", "middle")
    p.text(12, 92, "Gflop/s", size=13, look="soft")
    p.text(12, bottom + 72, "Points above the roof: data in the caches, and rounds that skip work which the textbook",
           size=13, look="soft")
    p.text(12, bottom + 90, "does and which is counted here all the same.", size=13, look="soft")
    p.path([(x(0.1), y(0.1 * bandwidth)), (x(peak / bandwidth), y(peak)), (x(100), y(peak))], "ink", title="what the machine can do")
    p.text(x(100), y(peak) - 8, f"peak {peak:.0f} Gflop/s", "end", 13)
    p.text(x(0.1) + 6, y(peak) - 8, f"memory {bandwidth:.0f} Gbyte/s", "start", 13)
    for name, colour, side in (("apply", ORANGE, -1), ("update", GREEN, 1)):
        points = kernels[name]
        for flops, rate, text in points:
            p.dot(x(flops), y(rate), colour, 4, title=text)
        for flops, rate, text in (min(points, key=lambda q: q[1]), max(points, key=lambda q: q[1])):
            p.text(x(flops) + 10 * side, y(rate) + 5, text, "end" if side < 0 else "start", 13, "soft")
    heights = []
    for flops, rate, text in sorted(whole, key=lambda q: -q[1]):
        at = y(rate) + 5
        while any(abs(at - other) < 16 for other in heights):
            at += 1
        heights.append(at)
        p.dot(x(flops), y(rate), BLUE, 6, title=text)
        right = x(flops) + 12 + 7 * len(text) < WIDTH - 16
        p.text(x(flops) + (12 if right else -12), at, text, "start" if right else "end", 13)
    p.write(out)


if __name__ == "__main__":
    figures = {"auto": auto, "growth": growth, "rounds": rounds, "roofline": roofline}
    if len(sys.argv) != 4 or sys.argv[1] not in figures:
        sys.exit(__doc__)
    figures[sys.argv[1]](*sys.argv[2:])
