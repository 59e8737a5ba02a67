package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/windows/registry"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubeletconfig "k8s.io/kubelet/config/v1beta1"
	"sigs.k8s.io/yaml"
)

const (
	crictl     = `C:\Program Files\containerd\crictl.exe`
	windowsKey = `SOFTWARE\Microsoft\Windows NT\CurrentVersion`
	patience   = 20 * time.Second
)

// register writes the Node. One that is there keeps labels and taints, as with kubelet: only its status is renewed.
// Source: kubernetes/kubernetes pkg/kubelet/kubelet_node_status.go, tryRegisterWithAPIServer.
func (given options) register(config kubeletconfig.KubeletConfiguration) error {
	folder, err := cluster(given.kubeconfig)
	if err != nil {
		return err
	}
	handlers, err := runtimeHandlers(config.ContainerRuntimeEndpoint)
	if err != nil {
		return err
	}
	labels, err := given.nodeLabels()
	if err != nil {
		return err
	}
	node := corev1.Node{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Node"},
		ObjectMeta: metav1.ObjectMeta{Name: given.name, Labels: labels},
		Spec:       corev1.NodeSpec{Taints: config.RegisterWithTaints},
	}
	path := filepath.Join(folder, given.name+".json")
	if data, err := os.ReadFile(path); err == nil {
		if err := json.Unmarshal(data, &node); err != nil {
			return err
		}
	} else if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	node.Status.RuntimeHandlers = handlers
	data, err := json.MarshalIndent(node, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", data, 0o666); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

func cluster(kubeconfig string) (string, error) {
	data, err := os.ReadFile(kubeconfig)
	if err != nil {
		return "", err
	}
	var document struct {
		Clusters []struct {
			Cluster struct {
				Server string `json:"server"`
			} `json:"cluster"`
		} `json:"clusters"`
	}
	if err := yaml.Unmarshal(data, &document); err != nil {
		return "", fmt.Errorf("%s: %w", kubeconfig, err)
	}
	if len(document.Clusters) != 1 {
		return "", fmt.Errorf("%s: expected one cluster, found %d", kubeconfig, len(document.Clusters))
	}
	return filepath.FromSlash(strings.TrimPrefix(document.Clusters[0].Cluster.Server, "file:///")), nil
}

// nodeLabels are those of the command line and those that kubelet has from the system it runs on.
// Source: kubernetes/kubernetes pkg/kubelet/kubelet_node_status.go, initialNode; kubelet_node_status_windows.go.
func (given options) nodeLabels() (map[string]string, error) {
	key, err := registry.OpenKey(registry.LOCAL_MACHINE, windowsKey, registry.QUERY_VALUE)
	if err != nil {
		return nil, err
	}
	defer key.Close()
	build, _, err := key.GetStringValue("CurrentBuildNumber")
	if err != nil {
		return nil, err
	}
	labels := map[string]string{
		corev1.LabelHostname:     given.name,
		corev1.LabelOSStable:     runtime.GOOS,
		corev1.LabelArchStable:   runtime.GOARCH,
		corev1.LabelWindowsBuild: "10.0." + build,
	}
	for _, pair := range strings.Split(given.labels, ",") {
		if name, value, found := strings.Cut(pair, "="); found {
			labels[name] = value
		}
	}
	return labels, nil
}

// runtimeHandlers asks the running containerd, which may still be starting.
func runtimeHandlers(endpoint string) ([]corev1.NodeRuntimeHandler, error) {
	for deadline := time.Now().Add(patience); ; time.Sleep(200 * time.Millisecond) {
		output, err := exec.Command(crictl, "--runtime-endpoint", endpoint, "info").Output()
		if err == nil {
			var info struct {
				RuntimeHandlers []corev1.NodeRuntimeHandler `json:"runtimeHandlers"`
			}
			err = json.Unmarshal(output, &info)
			return info.RuntimeHandlers, err
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("containerd does not answer at %q: %w", endpoint, err)
		}
	}
}
