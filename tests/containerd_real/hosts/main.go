// Prints what containerd makes of a folder with a hosts.toml a registry: `hosts FOLDER REGISTRY`. The import below is
// the package of the release that this is built for.
package main

import (
	"context"
	"encoding/json"
	"net/http"
	"os"

	"CONTAINERD/docker"
	"CONTAINERD/docker/config"
)

type host struct {
	URL          string              `json:"url"`
	Capabilities []string            `json:"capabilities"`
	Headers      map[string][]string `json:"headers"`
	SkipVerify   bool                `json:"skip_verify"`
	Authorities  bool                `json:"authorities"`
	Certificates int                 `json:"certificates"`
}

func main() {
	options := config.HostOptions{HostDir: config.HostDirFromRoot(os.Args[1])}
	found, err := config.ConfigureHosts(context.Background(), options)(os.Args[2])
	if err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
	hosts := []host{}
	for _, each := range found {
		one := host{URL: each.Scheme + "://" + each.Host + each.Path, Headers: each.Header}
		for name, bit := range map[string]docker.HostCapabilities{"pull": 1, "resolve": 2, "push": 4, "referrers": 8} {
			if each.Capabilities&bit != 0 {
				one.Capabilities = append(one.Capabilities, name)
			}
		}
		if transport, ok := each.Client.Transport.(*http.Transport); ok && transport.TLSClientConfig != nil {
			one.SkipVerify = transport.TLSClientConfig.InsecureSkipVerify
			one.Authorities = transport.TLSClientConfig.RootCAs != nil
			one.Certificates = len(transport.TLSClientConfig.Certificates)
		}
		hosts = append(hosts, one)
	}
	if err := json.NewEncoder(os.Stdout).Encode(hosts); err != nil {
		panic(err)
	}
}
