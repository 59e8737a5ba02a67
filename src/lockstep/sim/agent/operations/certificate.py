"""Certificates in a PEM file; a key beside them is never looked at."""

from __future__ import annotations

import re
from datetime import datetime

from cryptography import x509
from cryptography.x509.oid import NameOID

from lockstep.sim.agent.failure import OperationError
from lockstep.sim.agent.table import Context, Group, Operation, Result

_LIMIT = 1 << 20
_BLOCK = re.compile(rb"-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----")
# How Windows abbreviates. Source: Microsoft Learn, CertNameToStr, CERT_X500_NAME_STR.
_SHORT = {
    NameOID.COMMON_NAME: "CN",
    NameOID.COUNTRY_NAME: "C",
    NameOID.LOCALITY_NAME: "L",
    NameOID.ORGANIZATION_NAME: "O",
    NameOID.ORGANIZATIONAL_UNIT_NAME: "OU",
    NameOID.STATE_OR_PROVINCE_NAME: "S",
    NameOID.DOMAIN_COMPONENT: "DC",
}
_QUOTED = re.compile(r'[,+="\n<>#;]|^\s|\s$|^$')


def _read(context: Context, operation: Operation) -> Result:
    path = operation["path"]
    data = context.files.read(path, _LIMIT)
    if data is None:
        return {"exists": False, "certificates": []}
    certificates = []
    for number, block in enumerate(_BLOCK.findall(data), start=1):
        try:
            certificate = x509.load_pem_x509_certificate(block)
        except ValueError:
            raise OperationError("io", f"Certificate {number} of {path} cannot be read: it is damaged.") from None
        certificates.append(
            {
                "subject": _name(certificate.subject),
                "issuer": _name(certificate.issuer),
                "not_before": _time(certificate.not_valid_before_utc),
                "not_after": _time(certificate.not_valid_after_utc),
            }
        )
    return {"exists": True, "certificates": certificates}


def _name(name: x509.Name) -> str:
    """Return a name as .NET prints it: the last part first."""
    return ", ".join(" + ".join(_part(part) for part in group) for group in reversed(list(name.rdns)))


def _part(part: x509.NameAttribute[str | bytes]) -> str:
    value = str(part.value)
    quoted = value.replace('"', '""')
    return f"{_SHORT.get(part.oid, f'OID.{part.oid.dotted_string}')}=" + (
        f'"{quoted}"' if _QUOTED.search(value) else value
    )


def _time(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


GROUP = Group(reads={"certificate.read": _read})
