# Certificates in a PEM file. Only the blocks that say CERTIFICATE are looked at: a key beside them is never decoded, nor is any of
# the file's text ever shown.

$Operations['certificate.read'] = @{
    mode = 'read'; needs = @('path'); may = @()
    do   = {
        param($Operation)
        $bytes = Read-Bytes $Operation['path'] 1MB
        if ($null -eq $bytes) { return @{ exists = $false; certificates = @() } }
        $blocks = [regex]::Matches([Text.Encoding]::ASCII.GetString($bytes), '-----BEGIN CERTIFICATE-----([^-]*)-----END CERTIFICATE-----')
        $number = 0
        $certificates = foreach ($block in $blocks) {
            $number++
            $damaged = New-Failure 'io' "Certificate $number of $($Operation['path']) cannot be read: it is damaged."
            try { $der = [Convert]::FromBase64String($block.Groups[1].Value) } catch { throw $damaged }
            # A certificate is a SEQUENCE of DER; .NET would try other things with what is none.
            if ($der.Length -lt 2 -or $der[0] -ne 0x30) { throw $damaged }
            try { $certificate = New-Object Security.Cryptography.X509Certificates.X509Certificate2 (, $der) } catch { throw $damaged }
            $form = 'yyyy-MM-ddTHH:mm:ssZ'
            $culture = [Globalization.CultureInfo]::InvariantCulture
            @{
                subject    = $certificate.Subject
                issuer     = $certificate.Issuer
                not_before = $certificate.NotBefore.ToUniversalTime().ToString($form, $culture)
                not_after  = $certificate.NotAfter.ToUniversalTime().ToString($form, $culture)
            }
            $certificate.Dispose()
        }
        return @{ exists = $true; certificates = @($certificates) }
    }
}
