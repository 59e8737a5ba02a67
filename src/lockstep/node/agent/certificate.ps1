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
            try { $certificate = New-Object Security.Cryptography.X509Certificates.X509Certificate2 (, [Convert]::FromBase64String($block.Groups[1].Value)) }
            catch { throw (New-Failure 'io' "Certificate $number of $($Operation['path']) cannot be read: it is damaged.") }
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
