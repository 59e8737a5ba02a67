// testservice is a Windows program for the agent's cases: a service that behaves as a file tells it to, a program with a
// few plain answers, and the means to prepare and look at services without the agent.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"
)

const usage = `testservice service NAME CONFIG   run as the service NAME, as the first line of CONFIG says:
                                    run | die SECONDS CODE | crash SECONDS CODE | refuse CODE | hang | deaf
testservice hold PATH              keep PATH open, shared with nobody, until standard input ends
testservice arguments ...          print the arguments as a JSON list
testservice fill COUNT             print COUNT letters
testservice count PATH             add a letter to PATH, print how many there are
testservice fail CODE TEXT         print TEXT on standard error, end with CODE
testservice sleep SECONDS          wait
testservice /setactive GUID        make a power scheme the active one, as powercfg.exe does, which Wine lacks
testservice /r /t SECONDS ...      answer as shutdown.exe does, and refuse a comment that says refused
testservice prepare                make and start the services of a JSON list on standard input
testservice states NAME ...        print state and command line of services as JSON
testservice forget NAME ...        stop and delete services
`

func main() {
	if len(os.Args) < 2 {
		fatal(usage)
	}
	arguments := os.Args[2:]
	switch os.Args[1] {
	case "service":
		serve(arguments[0], arguments[1])
	case "hold":
		hold(arguments[0])
	case "arguments":
		printJSON(arguments)
	case "fill":
		os.Stdout.WriteString(strings.Repeat("x", number(arguments[0])))
	case "count":
		count(arguments[0])
	case "fail":
		fmt.Fprintln(os.Stderr, arguments[1])
		os.Exit(number(arguments[0]))
	case "/setactive":
		activate(arguments[0])
	case "/r":
		restart(arguments)
	case "sleep":
		time.Sleep(seconds(arguments[0]))
	case "prepare":
		prepare()
	case "states":
		states(arguments)
	case "forget":
		forget(arguments)
	default:
		fatal(usage)
	}
}

// hold opens a file as a program does that wants nobody else to touch it.
func hold(path string) {
	name, err := windows.UTF16PtrFromString(path)
	check(err)
	handle, err := windows.CreateFile(name, windows.GENERIC_READ, 0, nil, windows.OPEN_EXISTING, 0, 0)
	check(err)
	defer windows.CloseHandle(handle)
	fmt.Println("held")
	buffer := make([]byte, 1)
	os.Stdin.Read(buffer)
}

// activate knows the schemes that C:\lockstep-stubs\power.json lists.
func activate(scheme string) {
	text, err := os.ReadFile(`C:\lockstep-stubs\power.json`)
	check(err)
	if !strings.Contains(string(text), scheme) {
		fmt.Fprintln(os.Stderr, `Invalid Parameters -- try "/?" for help`)
		os.Exit(1)
	}
	key, _, err := registry.CreateKey(registry.LOCAL_MACHINE, `SYSTEM\CurrentControlSet\Control\Power\User\PowerSchemes`, registry.SET_VALUE)
	check(err)
	defer key.Close()
	check(key.SetStringValue("ActivePowerScheme", scheme))
}

// restart does nothing: on the stand-in shutdown.exe would end what runs the test.
func restart(arguments []string) {
	known := len(arguments) == 6 && arguments[0] == "/t" && arguments[2] == "/c" && arguments[4] == "/d" && arguments[5] == "p:2:4"
	if !known || number(arguments[1]) < 1 || len(arguments[3]) > 512 {
		os.Exit(87)
	}
	if strings.Contains(arguments[3], "refused") {
		fmt.Fprintln(os.Stderr, "Access is denied.(5)")
		os.Exit(5)
	}
}

func count(path string) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o666)
	check(err)
	defer file.Close()
	_, err = file.WriteString("x")
	check(err)
	info, err := file.Stat()
	check(err)
	fmt.Printf("run %d of %s\n", info.Size(), path)
}

func printJSON(value any) {
	text, err := json.Marshal(value)
	check(err)
	fmt.Println(string(text))
}

func number(text string) int {
	value, err := strconv.Atoi(text)
	check(err)
	return value
}

func seconds(text string) time.Duration {
	value, err := strconv.ParseFloat(text, 64)
	check(err)
	return time.Duration(value * float64(time.Second))
}

func check(err error) {
	if err != nil {
		fatal(err.Error())
	}
}

func fatal(text string) {
	fmt.Fprintln(os.Stderr, text)
	os.Exit(2)
}
