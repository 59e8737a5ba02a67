"""WinRM as a Windows node speaks it: HTTP, authentication, message encryption, SOAP messages and remote shells."""
