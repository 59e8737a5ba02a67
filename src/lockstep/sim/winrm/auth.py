"""Who may speak to a node: Basic, and NTLM bound to the connection."""

from __future__ import annotations

import base64
import binascii
import hmac
import os
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import spnego
from spnego import ContextProxy

_ENVIRONMENT = threading.Lock()
_STORE_VARIABLE = "NTLM_USER_FILE"


class Account:
    """The one account of a simulated node."""

    def __init__(self, user: str, password: str) -> None:
        if not user or any(character in user + password for character in ":\r\n"):
            raise ValueError(
                "user and password of a simulated node hold no colon and no line break, and the user is not empty"
            )
        self.user = user
        self._password = password

    def basic(self, header: str) -> bool:
        """Whether an Authorization header with Basic credentials is right."""
        try:
            given = base64.b64decode(header.removeprefix("Basic "), validate=True)
        except binascii.Error:
            return False
        user, _, password = given.partition(b":")
        same_user = user.decode("utf-8", "replace").rpartition("\\")[2].lower() == self.user.lower()
        return hmac.compare_digest(password, self._password.encode()) and same_user

    @contextmanager
    def store(self) -> Iterator[None]:
        """Name this account to spnego's NTLM acceptor, which finds accounts by an environment variable only."""
        with _ENVIRONMENT, tempfile.TemporaryDirectory(prefix="lockstep-sim-") as folder:
            path = Path(folder, "accounts")
            path.write_text(f":{self.user}:{self._password}\n.:{self.user}:{self._password}\n", encoding="utf-8")
            former = os.environ.get(_STORE_VARIABLE)
            os.environ[_STORE_VARIABLE] = str(path)
            try:
                yield
            finally:
                if former is None:
                    del os.environ[_STORE_VARIABLE]
                else:
                    os.environ[_STORE_VARIABLE] = former


class NtlmSession:
    """NTLM on one connection: the handshake, then the session that seals messages."""

    def __init__(self, account: Account) -> None:
        self._account = account
        self._context: ContextProxy | None = None

    @property
    def context(self) -> ContextProxy | None:
        """The session's keys, once the client has shown who it is."""
        return self._context if self._context is not None and self._context.complete else None

    def step(self, header: str) -> str | None:
        """Answer one Authorization header: the challenge to send back, or None when the client is known.

        Raises PermissionError when the client is not who it says.
        """
        try:
            token = base64.b64decode(header.partition(" ")[2], validate=True)
            with self._account.store():
                if self._context is None or self._context.complete:
                    self._context = spnego.server(protocol="ntlm", options=spnego.NegotiateOptions.use_ntlm)
                challenge = self._context.step(token)
        except Exception as error:
            # A wrong password, a truncated token and a foreign protocol are one answer to the client: 401.
            self._context = None
            raise PermissionError(str(error)) from error
        return None if challenge is None else base64.b64encode(challenge).decode()
