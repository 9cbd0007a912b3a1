// Command native prints hello: what starting any Go program costs.
package main

import "fmt"

func main() { fmt.Println("hello") }
