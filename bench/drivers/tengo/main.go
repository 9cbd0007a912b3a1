// Command tengo runs a Tengo script.
package main

import (
	"fmt"
	"os"

	"github.com/d5/tengo/v2"
	"github.com/d5/tengo/v2/stdlib"
)

func main() {
	src, err := os.ReadFile(os.Args[1])
	if err == nil {
		script := tengo.NewScript(src)
		script.SetImports(stdlib.GetModuleMap(stdlib.AllModuleNames()...))
		_, err = script.Run()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
