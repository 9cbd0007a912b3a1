package ast

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/sense-lang/sense/diag"
)

// Dump gives a tree as text, the same for every two trees that mean the same:
// types and fields by name, without places. Fields that hold their zero value
// are left out; statements stand on lines of their own.
//
//	File{Name: "x.sns", Body: [
//	  ExprStmt{X: BinaryExpr{Op: "+", X: IntLit{Value: 1}, Y: Ident{Name: "a"}}}
//	]}
func Dump(n Node) string {
	d := dumper{}
	d.value(reflect.ValueOf(n), 0)
	return d.String()
}

type dumper struct{ strings.Builder }

var (
	posType  = reflect.TypeFor[diag.Pos]()
	atType   = reflect.TypeFor[At]()
	stmtType = reflect.TypeFor[Stmt]()
)

func (d *dumper) value(v reflect.Value, depth int) {
	if s, ok := v.Interface().(fmt.Stringer); ok && v.Kind() != reflect.Pointer {
		d.WriteString(strconv.Quote(s.String()))
		return
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		d.pointer(v, depth)
	case reflect.Struct:
		d.fields(v, depth)
	case reflect.Slice:
		d.list(v, depth)
	case reflect.String:
		d.WriteString(strconv.Quote(v.String()))
	default:
		fmt.Fprint(d, v.Interface())
	}
}

func (d *dumper) pointer(v reflect.Value, depth int) {
	if v.IsNil() {
		d.WriteString("nil")
		return
	}
	if s, ok := v.Interface().(fmt.Stringer); ok && v.Elem().Type().PkgPath() == "math/big" {
		d.WriteString(s.String())
		return
	}
	d.value(v.Elem(), depth)
}

func (d *dumper) fields(v reflect.Value, depth int) {
	t := v.Type()
	d.WriteString(t.Name())
	d.WriteByte('{')
	sep := ""
	for i := range t.NumField() {
		f := v.Field(i)
		if f.Type() == posType || f.Type() == atType || f.IsZero() || f.Kind() == reflect.Slice && f.Len() == 0 {
			continue
		}
		d.WriteString(sep + t.Field(i).Name + ": ")
		d.value(f, depth)
		sep = ", "
	}
	d.WriteByte('}')
}

func (d *dumper) list(v reflect.Value, depth int) {
	sep, end := ", ", "]"
	if v.Type().Elem() == stmtType {
		sep = "\n" + strings.Repeat("  ", depth+1)
		end = "\n" + strings.Repeat("  ", depth) + "]"
		depth++
	}
	d.WriteByte('[')
	for i := range v.Len() {
		if i > 0 || sep != ", " {
			d.WriteString(sep)
		}
		d.value(v.Index(i), depth)
	}
	d.WriteString(end)
}
