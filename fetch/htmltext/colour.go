package htmltext

import (
	"math"
	"strconv"
	"strings"

	"golang.org/x/image/colornames"
)

// colour is of sRGB, each part 0 to 1.
type colour struct{ red, green, blue, alpha float64 }

var (
	black = colour{alpha: 1}
	white = colour{1, 1, 1, 1}
)

// over is a colour painted on another that is opaque.
func (c colour) over(below colour) colour {
	mix := func(a, b float64) float64 { return a*c.alpha + b*(1-c.alpha) }
	return colour{mix(c.red, below.red), mix(c.green, below.green), mix(c.blue, below.blue), 1}
}

// contrast is the ratio of WCAG 2.2, 1 to 21.
func contrast(a, b colour) float64 {
	x, y := a.luminance(), b.luminance()
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func (c colour) luminance() float64 {
	line := func(v float64) float64 {
		if v <= 0.04045 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	return 0.2126*line(c.red) + 0.7152*line(c.green) + 0.0722*line(c.blue)
}

// parseColour reads a colour of CSS: a name, #rgb, #rgba, #rrggbb, #rrggbbaa,
// rgb(), rgba(), hsl() or hsla(), in lower case or not.
func parseColour(s string) (colour, bool) {
	s = strings.ToLower(strings.TrimSpace(s))
	if s == "transparent" {
		return colour{}, true
	}
	if c, ok := colornames.Map[s]; ok {
		return colour{float64(c.R) / 255, float64(c.G) / 255, float64(c.B) / 255, 1}, true
	}
	if hex, ok := strings.CutPrefix(s, "#"); ok {
		return parseHex(hex)
	}
	name, inner, ok := strings.Cut(strings.TrimSuffix(s, ")"), "(")
	if !ok {
		return colour{}, false
	}
	var parts []float64
	for i, word := range strings.FieldsFunc(inner, func(r rune) bool { return r == ',' || r == ' ' || r == '/' }) {
		percent := strings.HasSuffix(word, "%")
		v, known := fraction(strings.TrimSuffix(word, "deg"))
		if !known || i > 3 {
			return colour{}, false
		}
		if strings.HasPrefix(name, "rgb") && !percent && i < 3 {
			v /= 255
		}
		parts = append(parts, v)
	}
	switch {
	case len(parts) == 3:
		parts = append(parts, 1)
	case len(parts) != 4:
		return colour{}, false
	}
	bound := func(v float64) float64 { return min(max(v, 0), 1) }
	switch name {
	case "rgb", "rgba":
		return colour{bound(parts[0]), bound(parts[1]), bound(parts[2]), bound(parts[3])}, true
	case "hsl", "hsla":
		c := fromHue(parts[0], bound(parts[1]), bound(parts[2]))
		c.alpha = bound(parts[3])
		return c, true
	}
	return colour{}, false
}

func parseHex(hex string) (colour, bool) {
	if len(hex) == 3 || len(hex) == 4 {
		var long strings.Builder
		for i := range len(hex) {
			long.WriteByte(hex[i])
			long.WriteByte(hex[i])
		}
		hex = long.String()
	}
	if len(hex) == 6 {
		hex += "ff"
	}
	v, err := strconv.ParseUint(hex, 16, 32)
	if err != nil || len(hex) != 8 {
		return colour{}, false
	}
	part := func(shift uint) float64 { return float64(v>>shift&0xff) / 255 }
	return colour{part(24), part(16), part(8), part(0)}, true
}

// fromHue is CSS Color 4, section 7.1: hue in degrees, the others 0 to 1.
func fromHue(hue, saturation, light float64) colour {
	part := func(n float64) float64 {
		k := math.Mod(math.Mod(n+hue/30, 12)+12, 12)
		return light - saturation*min(light, 1-light)*max(-1, min(k-3, 9-k, 1))
	}
	return colour{part(0), part(8), part(4), 1}
}
