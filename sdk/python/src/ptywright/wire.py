"""The wire: what results are made of, and every method as a call for `Client.call`.

    client.call(ptywright.wire.session_forget())
"""

from ._failures import *  # noqa: F403
from ._generated import *  # noqa: F403
from ._record import Call as Call
from ._record import Record as Record
