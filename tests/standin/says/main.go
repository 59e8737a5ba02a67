// A program that says what it was linked to say, whatever it is asked: kubeadm and kube-proxy tell their release so.
package main

import "fmt"

var text string

func main() { fmt.Println(text) }
