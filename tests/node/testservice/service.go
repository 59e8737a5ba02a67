package main

import (
	"os"
	"strings"
	"time"

	"golang.org/x/sys/windows/svc"
)

const badConfig = 3

// service behaves as the first line of its configuration says; it reads that at its start, as containerd does.
type service struct {
	config string
}

func serve(name, config string) {
	check(svc.Run(name, &service{config}))
}

func (s *service) Execute(_ []string, requests <-chan svc.ChangeRequest, status chan<- svc.Status) (bool, uint32) {
	status <- svc.Status{State: svc.StartPending}
	text, err := os.ReadFile(s.config)
	words := strings.Fields(strings.SplitN(string(text), "\n", 2)[0])
	if err != nil || len(words) == 0 {
		return true, badConfig
	}
	var ends <-chan time.Time
	switch words[0] {
	case "run", "deaf":
	case "die", "crash":
		ends = time.After(seconds(words[1]))
	case "refuse":
		return true, uint32(number(words[1]))
	case "hang":
		select {}
	default:
		return true, badConfig
	}
	status <- svc.Status{State: svc.Running, Accepts: svc.AcceptStop | svc.AcceptShutdown}
	for {
		select {
		case <-ends:
			if words[0] == "crash" {
				os.Exit(number(words[2]))
			}
			return true, uint32(number(words[2]))
		case request := <-requests:
			switch request.Cmd {
			case svc.Interrogate:
				status <- request.CurrentStatus
			case svc.Stop, svc.Shutdown:
				status <- svc.Status{State: svc.StopPending}
				if words[0] == "deaf" {
					select {}
				}
				return false, 0
			}
		}
	}
}
