package main

import (
	"encoding/json"
	"os"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// definition is a service to be made.
type definition struct {
	Name       string   `json:"name"`
	BinaryPath string   `json:"binary_path"`
	DependsOn  []string `json:"depends_on"`
	Automatic  bool     `json:"automatic"`
	Running    bool     `json:"running"`
}

// state is what the service manager says of a service.
type state struct {
	State      string `json:"state"`
	BinaryPath string `json:"binary_path"`
	ProcessID  uint32 `json:"process_id"`
}

var stateNames = map[uint32]string{
	windows.SERVICE_STOPPED: "stopped", windows.SERVICE_START_PENDING: "start_pending",
	windows.SERVICE_STOP_PENDING: "stop_pending", windows.SERVICE_RUNNING: "running", windows.SERVICE_PAUSED: "paused",
}

// The calls are Windows' own, not those of x/sys/windows/svc/mgr: that quotes command lines anew and asks for more than
// every service manager answers.
func connect() windows.Handle {
	manager, err := windows.OpenSCManager(nil, nil, windows.SC_MANAGER_ALL_ACCESS)
	check(err)
	return manager
}

func wide(text string) *uint16 {
	pointer, err := windows.UTF16PtrFromString(text)
	check(err)
	return pointer
}

func prepare() {
	var definitions []definition
	check(json.NewDecoder(os.Stdin).Decode(&definitions))
	manager := connect()
	for _, one := range definitions {
		start := uint32(windows.SERVICE_DEMAND_START)
		if one.Automatic {
			start = windows.SERVICE_AUTO_START
		}
		var depends *uint16
		if len(one.DependsOn) > 0 {
			list := []uint16{}
			for _, name := range one.DependsOn {
				list = append(list, windows.StringToUTF16(name)...)
			}
			depends = &append(list, 0)[0]
		}
		service, err := windows.CreateService(manager, wide(one.Name), wide(one.Name), windows.SERVICE_ALL_ACCESS,
			windows.SERVICE_WIN32_OWN_PROCESS, start, windows.SERVICE_ERROR_NORMAL, wide(one.BinaryPath), nil, nil, depends, nil, nil)
		check(err)
		if one.Running {
			check(windows.StartService(service, 0, nil))
			await(one.Name, service)
		}
		windows.CloseServiceHandle(service)
	}
}

func query(service windows.Handle) windows.SERVICE_STATUS_PROCESS {
	var status windows.SERVICE_STATUS_PROCESS
	var needed uint32
	check(windows.QueryServiceStatusEx(service, windows.SC_STATUS_PROCESS_INFO, (*byte)(unsafe.Pointer(&status)),
		uint32(unsafe.Sizeof(status)), &needed))
	return status
}

func await(name string, service windows.Handle) {
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if query(service).CurrentState == windows.SERVICE_RUNNING {
			return
		}
	}
	fatal("the service " + name + " did not come up")
}

func commandLine(service windows.Handle) string {
	buffer := make([]byte, 8192)
	var needed uint32
	config := (*windows.QUERY_SERVICE_CONFIG)(unsafe.Pointer(&buffer[0]))
	check(windows.QueryServiceConfig(service, config, uint32(len(buffer)), &needed))
	return windows.UTF16PtrToString(config.BinaryPathName)
}

func states(names []string) {
	manager := connect()
	found := map[string]*state{}
	for _, name := range names {
		service, err := windows.OpenService(manager, wide(name), windows.SERVICE_ALL_ACCESS)
		if err != nil {
			found[name] = nil
			continue
		}
		status := query(service)
		found[name] = &state{stateNames[status.CurrentState], commandLine(service), status.ProcessId}
		windows.CloseServiceHandle(service)
	}
	printJSON(found)
}

// forget ends and deletes the services whose names are given, hung processes included.
func forget(names []string) {
	manager := connect()
	for _, name := range names {
		service, err := windows.OpenService(manager, wide(name), windows.SERVICE_ALL_ACCESS)
		if err != nil {
			continue
		}
		if status := query(service); status.ProcessId != 0 {
			if process, err := windows.OpenProcess(windows.PROCESS_TERMINATE, false, status.ProcessId); err == nil {
				windows.TerminateProcess(process, 1)
				windows.CloseHandle(process)
			}
		}
		windows.DeleteService(service)
		windows.CloseServiceHandle(service)
	}
}
