"""Rules over what kubelet is given: the checks of the kubelet domain, each finding at its place."""
