package ast

import "testing"

func TestParseFormat(t *testing.T) {
	base := Format{Fill: ' ', Precision: -1}
	with := func(change func(*Format)) Format {
		f := base
		change(&f)
		return f
	}
	for _, c := range []struct {
		spec string
		want Format
	}{
		{"", base},
		{".2f", with(func(f *Format) { f.Precision, f.Verb = 2, 'f' })},
		{">10", with(func(f *Format) { f.Align, f.Width = '>', 10 })},
		{"<", with(func(f *Format) { f.Align = '<' })},
		{"*^9", with(func(f *Format) { f.Fill, f.Align, f.Width = '*', '^', 9 })},
		{"é>3", with(func(f *Format) { f.Fill, f.Align, f.Width = 'é', '>', 3 })},
		{"<<3", with(func(f *Format) { f.Fill, f.Align, f.Width = '<', '<', 3 })},
		{",", with(func(f *Format) { f.Comma = true })},
		{"05", with(func(f *Format) { f.Zero, f.Width = true, 5 })},
		{"+08,.1f", with(func(f *Format) { f.Sign, f.Zero, f.Width, f.Comma, f.Precision, f.Verb = '+', true, 8, true, 1, 'f' })},
		{" d", with(func(f *Format) { f.Sign, f.Verb = ' ', 'd' })},
		{"-", with(func(f *Format) { f.Sign = '-' })},
		{".0%", with(func(f *Format) { f.Precision, f.Verb = 0, '%' })},
		{".3", with(func(f *Format) { f.Precision = 3 })},
		{"x", with(func(f *Format) { f.Verb = 'x' })},
		{"10000", with(func(f *Format) { f.Width = 10000 })},
		{">5.2s", with(func(f *Format) { f.Align, f.Width, f.Precision, f.Verb = '>', 5, 2, 's' })},
	} {
		if got, err := ParseFormat(c.spec); err != nil || got != c.want {
			t.Errorf("%q: got %+v, %v, want %+v", c.spec, got, err, c.want)
		}
	}
	for _, spec := range []string{"q", ">>>", ".f", ".", "10001", "99999999999999999999", ".10001f", "2f2", ",,", "f.2", ".2d", ",x", "+s", "é", "d ", "0s", "=5", "#x", "_"} {
		if f, err := ParseFormat(spec); err == nil || f != (Format{}) {
			t.Errorf("%q: got %+v, %v", spec, f, err)
		}
	}
}

func FuzzParseFormat(f *testing.F) {
	for _, s := range []string{"", ".2f", ">10", ",", "é^+05,.1%", "<<"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, spec string) {
		if got, err := ParseFormat(spec); err == nil && (got.Width < 0 || got.Width > maxWidth || got.Precision < -1 || got.Precision > maxWidth) {
			t.Errorf("%q: %+v", spec, got)
		}
	})
}
