// kubelet for the Windows stand-in: of the real one it has what lockstep configures. It is started by the service manager
// with a command line, decodes its file strictly with Kubernetes' own types, does not start on what it cannot decode, asks
// containerd over CRI for its handlers, and registers a Node, once, with labels and taints. Without --kubeconfig it is
// standalone, with a bootstrap kubeconfig it joins first. It runs no pods.
//
// --version tells the release that it was built as, or else the content of kubelet.version beside the program. kubelet.log
// there says why a start failed.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows/svc"
	kubeletconfig "k8s.io/kubelet/config/v1beta1"
	"sigs.k8s.io/yaml"
)

// options are the flags that a joined node has, and those that lockstep adds. As kubelet does, it refuses others.
type options struct {
	config, kubeconfig, bootstrap, name, labels string
}

// release is set where it is linked as a release.
var release string

func main() {
	var given options
	version := flag.Bool("version", false, "print the version")
	flag.Bool("windows-service", false, "run as a service")
	flag.StringVar(&given.bootstrap, "bootstrap-kubeconfig", "", "kubeconfig to join with, where there is no other")
	flag.String("windows-priorityclass", "", "not looked at, as are those below")
	flag.String("node-ip", "", "")
	flag.String("cert-dir", "", "")
	flag.String("config-dir", "", "")
	flag.String("v", "", "")
	flag.StringVar(&given.config, "config", "", "KubeletConfiguration")
	flag.StringVar(&given.kubeconfig, "kubeconfig", "", "whose server is the folder that Node objects go to: file:///Z:/...")
	host, _ := os.Hostname()
	flag.StringVar(&given.name, "hostname-override", strings.ToLower(host), "name of the node")
	flag.StringVar(&given.labels, "node-labels", "", "labels to register with")
	flag.Parse()
	if *version {
		if release == "" {
			written, err := os.ReadFile(beside("kubelet.version"))
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			release = strings.TrimSpace(string(written))
		}
		fmt.Println("Kubernetes v" + release)
		return
	}
	if err := svc.Run("kubelet", given); err != nil {
		log(err)
		os.Exit(1)
	}
}

// Execute is what the service manager calls.
func (given options) Execute(_ []string, requests <-chan svc.ChangeRequest, status chan<- svc.Status) (bool, uint32) {
	status <- svc.Status{State: svc.StartPending}
	if err := given.start(); err != nil {
		log(err)
		return true, 1
	}
	status <- svc.Status{State: svc.Running, Accepts: svc.AcceptStop | svc.AcceptShutdown}
	for request := range requests {
		switch request.Cmd {
		case svc.Interrogate:
			status <- request.CurrentStatus
		case svc.Stop, svc.Shutdown:
			status <- svc.Status{State: svc.StopPending}
			return false, 0
		}
	}
	return false, 0
}

func (given options) start() error {
	data, err := os.ReadFile(given.config)
	if err != nil {
		return err
	}
	var config kubeletconfig.KubeletConfiguration
	if err := yaml.UnmarshalStrict(data, &config); err != nil {
		return fmt.Errorf("failed to load kubelet config file %s: %w", given.config, err)
	}
	if given.kubeconfig == "" {
		return standalone(config)
	}
	if err := given.join(); err != nil {
		return err
	}
	return given.register(config)
}

func beside(name string) string {
	program, err := os.Executable()
	if err != nil {
		return name
	}
	return filepath.Join(filepath.Dir(program), name)
}

func log(err error) {
	file, failed := os.OpenFile(beside("kubelet.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if failed == nil {
		defer file.Close()
		fmt.Fprintln(file, err)
	}
}

// standalone tells why a kubelet without a cluster does not start, and asks containerd as any other does.
// Source: kubernetes/kubernetes cmd/kubelet/app/auth.go, BuildAuthn and BuildAuthz.
func standalone(config kubeletconfig.KubeletConfiguration) error {
	if enabled := config.Authentication.Webhook.Enabled; enabled == nil || *enabled {
		return errors.New("no client provided, cannot use webhook authentication")
	}
	if config.Authorization.Mode != kubeletconfig.KubeletAuthorizationModeAlwaysAllow {
		return errors.New("no client provided, cannot use webhook authorization")
	}
	_, err := runtimeHandlers(config.ContainerRuntimeEndpoint)
	return err
}

// join writes the kubeconfig that is not there yet, from the one to bootstrap with.
// Source: kubernetes/kubernetes pkg/kubelet/certificate/bootstrap/bootstrap.go, LoadClientConfig.
func (given options) join() error {
	if _, err := os.Stat(given.kubeconfig); err == nil || given.bootstrap == "" {
		return err
	}
	data, err := os.ReadFile(given.bootstrap)
	if err != nil {
		return fmt.Errorf("unable to load bootstrap kubeconfig: %w", err)
	}
	return os.WriteFile(given.kubeconfig, data, 0o600)
}
