package main

import (
	"encoding/json"
	"fmt"
	"os"
)

// metadata is what the metadata collector wrote about the node's GPUs. NVSentinel, nic-health-monitor, gpu_metadata.json.
type metadata struct {
	GPUs []struct {
		Numa int `json:"numa_node"`
	} `json:"gpus"`
	Topology map[string][]string `json:"nic_topology"`

	numas map[int]bool
}

func loadMetadata(path string) (*metadata, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read gpu metadata at %s: %w", path, err)
	}
	m := &metadata{numas: map[int]bool{}}
	if err := json.Unmarshal(text, m); err != nil {
		return nil, fmt.Errorf("parse gpu metadata at %s: %w", path, err)
	}
	for _, gpu := range m.GPUs {
		if gpu.Numa >= 0 {
			m.numas[gpu.Numa] = true
		}
	}
	switch {
	case len(m.GPUs) == 0:
		return nil, fmt.Errorf("gpu metadata at %s has empty gpus[] — NIC monitor cannot classify NICs", path)
	case len(m.Topology) == 0:
		return nil, fmt.Errorf("gpu metadata at %s has empty nic_topology — metadata collector must publish the nvidia-smi topo -m "+
			"matrix before the NIC monitor can start", path)
	case len(m.numas) == 0:
		return nil, fmt.Errorf("gpu metadata at %s has no GPUs with valid NUMA nodes — the NUMA gate cannot distinguish management "+
			"NICs from compute NICs; monitoring everything would risk false REPLACE_VM on management NIC failures", path)
	}
	return m, nil
}
