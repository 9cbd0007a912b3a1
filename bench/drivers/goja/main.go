// Command goja runs a JavaScript script with goja.
package main

import (
	"fmt"
	"os"

	"github.com/dop251/goja"
)

func main() {
	src, err := os.ReadFile(os.Args[1])
	if err == nil {
		vm := goja.New()
		_ = vm.Set("print", func(args ...any) { fmt.Println(args...) }) // a func can always be set
		_, err = vm.RunScript(os.Args[1], string(src))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
