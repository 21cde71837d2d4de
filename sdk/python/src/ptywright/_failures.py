"""The errors of the server, each a class by its reason.

Written by go run ./sdk/gen from protocol/model.json. Do not edit.
"""

from __future__ import annotations

import builtins
from typing import Dict, Type

from ._errors import PtywrightError
from ._generated import (
    AmbiguousData,
    CannotStartData,
    ErrorData,
    ExpectationFailedData,
    ForbiddenData,
    HostLostData,
    HostUnreachableData,
    InputBlockedData,
    InputData,
    IntentRefusedData,
    InvalidManifestData,
    LimitExceededData,
    LineTooLongData,
    MomentNotKeptData,
    NameTakenData,
    NotFoundData,
    OffScreenData,
    OwnedByAdapterData,
    PermissionDeniedData,
    PluginFailedData,
    ServerDidNotGrantPluginLoadData,
    ServerLostData,
    SessionForgottenData,
    SessionLeasedData,
    TooManySecretsData,
    UnkillableData,
    UnknownIntentData,
    WaitData,
)


class AmbiguousError(PtywrightError):
    """A locator means several places of the screen where one was wanted, and has not meant one in
    time.
    """

    reason = "ambiguous"
    code = -32001

    @property
    def data(self) -> AmbiguousData:
        return AmbiguousData(self._data)


class BatchTooLargeError(PtywrightError):
    """A batch has too many requests."""

    reason = "batch_too_large"
    code = -32600

    @property
    def data(self) -> ErrorData:
        return ErrorData(self._data)


class CancelledError(PtywrightError):
    """The request was cancelled."""

    reason = "cancelled"
    code = -32005

    @property
    def data(self) -> WaitData:
        return WaitData(self._data)


class CannotStartError(PtywrightError):
    """The program cannot be started."""

    reason = "cannot_start"
    code = -32602

    @property
    def data(self) -> CannotStartData:
        return CannotStartData(self._data)


class CommandNotRunError(PtywrightError):
    """The shell has not run the command line."""

    reason = "command_not_run"
    code = -32602

    @property
    def data(self) -> WaitData:
        return WaitData(self._data)


class DuplicateMemberError(PtywrightError):
    """A member appears twice: in params, or in the message itself (then the code is -32600)."""

    reason = "duplicate_member"
    code = -32602

    @property
    def data(self) -> ErrorData:
        return ErrorData(self._data)


class EmptyBatchError(PtywrightError):
    """A batch has no requests."""

    reason = "empty_batch"
    code = -32600

    @property
    def data(self) -> ErrorData:
        return ErrorData(self._data)


class ExpectationFailedError(PtywrightError):
    """The screen did not show what an intent expected."""

    reason = "expectation_failed"
    code = -32603

    @property
    def data(self) -> ExpectationFailedData:
        return ExpectationFailedData(self._data)


class FileRefusedError(PtywrightError):
    """A file cannot be opened or written."""

    reason = "file_refused"
    code = -32602

    @property
    def data(self) -> ErrorData:
        return ErrorData(self._data)


class ForbiddenError(PtywrightError):
    """The connection has no right to it."""

    reason = "forbidden"
    code = -32004

    @property
    def data(self) -> ForbiddenData:
        return ForbiddenData(self._data)


class FramingLostError(PtywrightError):
    """The next message cannot be found; the connection is closed."""

    reason = "framing_lost"
    code = -32700

    @property
    def data(self) -> ErrorData:
        return ErrorData(self._data)


class GoldenRefusedError(PtywrightError):
    """The screen cannot be written down: a mask covers nothing, the region lies outside, or it
    has too many styles.
    """

    reason = "golden_refused"
    code = -32602

    @property
    def data(self) -> ErrorData:
        return ErrorData(self._data)


class HostLostError(PtywrightError):
    """The host was lost before it answered; whether it was done is not known."""

    reason = "host_lost"
    code = -32006

    @property
    def data(self) -> HostLostData:
        return HostLostData(self._data)


class HostUnreachableError(PtywrightError):
    """The host cannot be reached; nothing was done."""

    reason = "host_unreachable"
    code = -32006

    @property
    def data(self) -> HostUnreachableData:
        return HostUnreachableData(self._data)


class InputBlockedError(PtywrightError):
    """The program does not read its input."""

    reason = "input_blocked"
    code = -32603

    @property
    def data(self) -> InputBlockedData:
        return InputBlockedData(self._data)


class InputFullError(PtywrightError):
    """Too much input waits for the program."""

    reason = "input_full"
    code = -32603

    @property
    def data(self) -> InputData:
        return InputData(self._data)


class InputIdInUseError(PtywrightError):
    """Another input of the session had the id."""

    reason = "input_id_in_use"
    code = -32602

    @property
    def data(self) -> ErrorData:
        return ErrorData(self._data)


class IntentRefusedError(PtywrightError):
    """The plugin refuses the intent."""

    reason = "intent_refused"
    code = -32602

    @property
    def data(self) -> IntentRefusedData:
        return IntentRefusedData(self._data)


class InternalError(PtywrightError):
    """The server has failed; its log has more."""

    reason = "internal_error"
    code = -32603

    @property
    def data(self) -> InputData:
        return InputData(self._data)


class InvalidActionError(PtywrightError):
    """An action is not one."""

    reason = "invalid_action"
    code = -32602

    @property
    def data(self) -> InputData:
        return InputData(self._data)


class InvalidEnvironmentError(PtywrightError):
    """A variable of env is not one."""

    reason = "invalid_environment"
    code = -32602

    @property
    def data(self) -> ErrorData:
        return ErrorData(self._data)


class InvalidGoldenError(PtywrightError):
    """A golden screen, a mask or a region is not one."""

    reason = "invalid_golden"
    code = -32602

    @property
    def data(self) -> ErrorData:
        return ErrorData(self._data)


class InvalidLocatorError(PtywrightError):
    """A locator is not one."""

    reason = "invalid_locator"
    code = -32602

    @property
    def data(self) -> ErrorData:
        return ErrorData(self._data)


class InvalidManifestError(PtywrightError):
    """A manifest is not one."""

    reason = "invalid_manifest"
    code = -32602

    @property
    def data(self) -> InvalidManifestData:
        return InvalidManifestData(self._data)


class InvalidMatcherError(PtywrightError):
    """A matcher is not one."""

    reason = "invalid_matcher"
    code = -32602

    @property
    def data(self) -> ErrorData:
        return ErrorData(self._data)


class InvalidParamsError(PtywrightError):
    """A parameter is missing, or has the wrong type or value."""

    reason = "invalid_params"
    code = -32602

    @property
    def data(self) -> InputData:
        return InputData(self._data)


class InvalidRedactionError(PtywrightError):
    """A rule of redaction is not one."""

    reason = "invalid_redaction"
    code = -32602

    @property
    def data(self) -> ErrorData:
        return ErrorData(self._data)


class InvalidRequestError(PtywrightError):
    """The message is not a request of JSON-RPC 2.0."""

    reason = "invalid_request"
    code = -32600

    @property
    def data(self) -> ErrorData:
        return ErrorData(self._data)


class InvalidUtf8Error(PtywrightError):
    """The message is not UTF-8."""

    reason = "invalid_utf8"
    code = -32700

    @property
    def data(self) -> ErrorData:
        return ErrorData(self._data)


class KeyNotRequestedError(PtywrightError):
    """The program gets nothing for the key."""

    reason = "key_not_requested"
    code = -32602

    @property
    def data(self) -> InputData:
        return InputData(self._data)


class LimitExceededError(PtywrightError):
    """A limit of the server or the system is reached."""

    reason = "limit_exceeded"
    code = -32603

    @property
    def data(self) -> LimitExceededData:
        return LimitExceededData(self._data)


class LineTooLongError(PtywrightError):
    """The terminal would cut the line."""

    reason = "line_too_long"
    code = -32602

    @property
    def data(self) -> LineTooLongData:
        return LineTooLongData(self._data)


class MemoryLimitUnsupportedError(PtywrightError):
    """The server cannot limit memory here."""

    reason = "memory_limit_unsupported"
    code = -32602

    @property
    def data(self) -> ErrorData:
        return ErrorData(self._data)


class MessageTooLargeError(PtywrightError):
    """The message is larger than the server reads."""

    reason = "message_too_large"
    code = -32700

    @property
    def data(self) -> ErrorData:
        return ErrorData(self._data)


class MomentNotKeptError(PtywrightError):
    """What a session was like then has been dropped, or is still to come."""

    reason = "moment_not_kept"
    code = -32602

    @property
    def data(self) -> MomentNotKeptData:
        return MomentNotKeptData(self._data)


class MouseNotRequestedError(PtywrightError):
    """The program does not ask for the mouse."""

    reason = "mouse_not_requested"
    code = -32602

    @property
    def data(self) -> InputData:
        return InputData(self._data)


class NameTakenError(PtywrightError):
    """Another session that runs has the name."""

    reason = "name_taken"
    code = -32602

    @property
    def data(self) -> NameTakenData:
        return NameTakenData(self._data)


class NestingTooDeepError(PtywrightError):
    """The message is nested too deep."""

    reason = "nesting_too_deep"
    code = -32700

    @property
    def data(self) -> ErrorData:
        return ErrorData(self._data)


class NoProgramError(PtywrightError):
    """Neither the request nor the manifest names a program."""

    reason = "no_program"
    code = -32602

    @property
    def data(self) -> ErrorData:
        return ErrorData(self._data)


class NoShellError(PtywrightError):
    """The session's program is not a shell that session.run knows."""

    reason = "no_shell"
    code = -32602

    @property
    def data(self) -> ErrorData:
        return ErrorData(self._data)


class NotAtPromptError(PtywrightError):
    """The shell is not at an empty prompt."""

    reason = "not_at_prompt"
    code = -32603

    @property
    def data(self) -> ErrorData:
        return ErrorData(self._data)


class NotFoundError(PtywrightError):
    """A locator means nothing on the screen, and has not in time."""

    reason = "not_found"
    code = -32001

    @property
    def data(self) -> NotFoundData:
        return NotFoundData(self._data)


class OffScreenError(PtywrightError):
    """What a locator means has left the screen."""

    reason = "off_screen"
    code = -32602

    @property
    def data(self) -> OffScreenData:
        return OffScreenData(self._data)


class OwnedByAdapterError(PtywrightError):
    """An adapter drives the session."""

    reason = "owned_by_adapter"
    code = -32602

    @property
    def data(self) -> OwnedByAdapterData:
        return OwnedByAdapterData(self._data)


class ParseError(PtywrightError):
    """The message is not JSON."""

    reason = "parse_error"
    code = -32700

    @property
    def data(self) -> ErrorData:
        return ErrorData(self._data)


class PermissionDeniedError(PtywrightError):
    """The plugin's manifest does not allow it."""

    reason = "permission_denied"
    code = -32004

    @property
    def data(self) -> PermissionDeniedData:
        return PermissionDeniedData(self._data)


class PluginBuiltInError(PtywrightError):
    """The plugin is built in."""

    reason = "plugin_built_in"
    code = -32602

    @property
    def data(self) -> ErrorData:
        return ErrorData(self._data)


class PluginExistsError(PtywrightError):
    """A plugin of this name is loaded."""

    reason = "plugin_exists"
    code = -32602

    @property
    def data(self) -> ErrorData:
        return ErrorData(self._data)


class PluginFailedError(PtywrightError):
    """The plugin's code has failed."""

    reason = "plugin_failed"
    code = -32603

    @property
    def data(self) -> PluginFailedData:
        return PluginFailedData(self._data)


class PluginInUseError(PtywrightError):
    """Adapters run the plugin."""

    reason = "plugin_in_use"
    code = -32602

    @property
    def data(self) -> ErrorData:
        return ErrorData(self._data)


class PluginWithoutCodeError(PtywrightError):
    """The plugin has no code."""

    reason = "plugin_without_code"
    code = -32602

    @property
    def data(self) -> ErrorData:
        return ErrorData(self._data)


class PositionOutOfRangeError(PtywrightError):
    """The position is not on the screen."""

    reason = "position_out_of_range"
    code = -32602

    @property
    def data(self) -> InputData:
        return InputData(self._data)


class ReplyTooLargeError(PtywrightError):
    """The answer would be too large."""

    reason = "reply_too_large"
    code = -32603

    @property
    def data(self) -> ErrorData:
        return ErrorData(self._data)


class ServerDidNotGrantPluginLoadError(PtywrightError):
    """The server does not load plugins for clients."""

    reason = "server_did_not_grant_plugin_load"
    code = -32004

    @property
    def data(self) -> ServerDidNotGrantPluginLoadData:
        return ServerDidNotGrantPluginLoadData(self._data)


class ServerLostError(PtywrightError):
    """The host's server was started anew, and its sessions have ended."""

    reason = "server_lost"
    code = -32002

    @property
    def data(self) -> ServerLostData:
        return ServerLostData(self._data)


class SessionClosedError(PtywrightError):
    """The session was closed."""

    reason = "session_closed"
    code = -32002

    @property
    def data(self) -> WaitData:
        return WaitData(self._data)


class SessionEndedError(PtywrightError):
    """The session's program has ended."""

    reason = "session_ended"
    code = -32002

    @property
    def data(self) -> WaitData:
        return WaitData(self._data)


class SessionForgottenError(PtywrightError):
    """The session has ended and was forgotten."""

    reason = "session_forgotten"
    code = -32602

    @property
    def data(self) -> SessionForgottenData:
        return SessionForgottenData(self._data)


class SessionLeasedError(PtywrightError):
    """Another client has the session."""

    reason = "session_leased"
    code = -32004

    @property
    def data(self) -> SessionLeasedData:
        return SessionLeasedData(self._data)


class ShellIntegrationUnsupportedError(PtywrightError):
    """The program is not a shell that can be made to mark its commands."""

    reason = "shell_integration_unsupported"
    code = -32602

    @property
    def data(self) -> ErrorData:
        return ErrorData(self._data)


class ShuttingDownError(PtywrightError):
    """The server is stopping."""

    reason = "shutting_down"
    code = -32005

    @property
    def data(self) -> InputData:
        return InputData(self._data)


class SizeOutOfRangeError(PtywrightError):
    """A terminal cannot have the size."""

    reason = "size_out_of_range"
    code = -32602

    @property
    def data(self) -> InputData:
        return InputData(self._data)


class TimeoutError(PtywrightError, builtins.TimeoutError):
    """What was waited for has not happened in time."""

    reason = "timeout"
    code = -32001

    @property
    def data(self) -> WaitData:
        return WaitData(self._data)


class TooManyMarksError(PtywrightError):
    """The transcript has too many marks."""

    reason = "too_many_marks"
    code = -32602

    @property
    def data(self) -> InputData:
        return InputData(self._data)


class TooManySecretsError(PtywrightError):
    """Env has more secrets than can be hidden."""

    reason = "too_many_secrets"
    code = -32602

    @property
    def data(self) -> TooManySecretsData:
        return TooManySecretsData(self._data)


class TurnInProgressError(PtywrightError):
    """Another turn did not end in time."""

    reason = "turn_in_progress"
    code = -32603

    @property
    def data(self) -> WaitData:
        return WaitData(self._data)


class UnkillableError(PtywrightError):
    """The kernel has not ended processes in time."""

    reason = "unkillable"
    code = -32603

    @property
    def data(self) -> UnkillableData:
        return UnkillableData(self._data)


class UnknownAdapterError(PtywrightError):
    """There is no such adapter."""

    reason = "unknown_adapter"
    code = -32602

    @property
    def data(self) -> ErrorData:
        return ErrorData(self._data)


class UnknownHostError(PtywrightError):
    """There is no such host."""

    reason = "unknown_host"
    code = -32602

    @property
    def data(self) -> ErrorData:
        return ErrorData(self._data)


class UnknownIntentError(PtywrightError):
    """The plugin has no such intent or wait matcher."""

    reason = "unknown_intent"
    code = -32602

    @property
    def data(self) -> UnknownIntentData:
        return UnknownIntentData(self._data)


class UnknownMethodError(PtywrightError):
    """There is no such method."""

    reason = "unknown_method"
    code = -32601

    @property
    def data(self) -> ErrorData:
        return ErrorData(self._data)


class UnknownPluginError(PtywrightError):
    """There is no such plugin."""

    reason = "unknown_plugin"
    code = -32602

    @property
    def data(self) -> ErrorData:
        return ErrorData(self._data)


class UnknownPredicateError(PtywrightError):
    """The plugin has no such predicate."""

    reason = "unknown_predicate"
    code = -32602

    @property
    def data(self) -> ErrorData:
        return ErrorData(self._data)


class UnknownRecordingError(PtywrightError):
    """There is no such recording."""

    reason = "unknown_recording"
    code = -32602

    @property
    def data(self) -> ErrorData:
        return ErrorData(self._data)


class UnknownSessionError(PtywrightError):
    """There is no such session."""

    reason = "unknown_session"
    code = -32602

    @property
    def data(self) -> ErrorData:
        return ErrorData(self._data)


class WaitIdInUseError(PtywrightError):
    """A wait of this id is under way."""

    reason = "wait_id_in_use"
    code = -32602

    @property
    def data(self) -> ErrorData:
        return ErrorData(self._data)


ERRORS: Dict[str, Type[PtywrightError]] = {
    "ambiguous": AmbiguousError,
    "batch_too_large": BatchTooLargeError,
    "cancelled": CancelledError,
    "cannot_start": CannotStartError,
    "command_not_run": CommandNotRunError,
    "duplicate_member": DuplicateMemberError,
    "empty_batch": EmptyBatchError,
    "expectation_failed": ExpectationFailedError,
    "file_refused": FileRefusedError,
    "forbidden": ForbiddenError,
    "framing_lost": FramingLostError,
    "golden_refused": GoldenRefusedError,
    "host_lost": HostLostError,
    "host_unreachable": HostUnreachableError,
    "input_blocked": InputBlockedError,
    "input_full": InputFullError,
    "input_id_in_use": InputIdInUseError,
    "intent_refused": IntentRefusedError,
    "internal_error": InternalError,
    "invalid_action": InvalidActionError,
    "invalid_environment": InvalidEnvironmentError,
    "invalid_golden": InvalidGoldenError,
    "invalid_locator": InvalidLocatorError,
    "invalid_manifest": InvalidManifestError,
    "invalid_matcher": InvalidMatcherError,
    "invalid_params": InvalidParamsError,
    "invalid_redaction": InvalidRedactionError,
    "invalid_request": InvalidRequestError,
    "invalid_utf8": InvalidUtf8Error,
    "key_not_requested": KeyNotRequestedError,
    "limit_exceeded": LimitExceededError,
    "line_too_long": LineTooLongError,
    "memory_limit_unsupported": MemoryLimitUnsupportedError,
    "message_too_large": MessageTooLargeError,
    "moment_not_kept": MomentNotKeptError,
    "mouse_not_requested": MouseNotRequestedError,
    "name_taken": NameTakenError,
    "nesting_too_deep": NestingTooDeepError,
    "no_program": NoProgramError,
    "no_shell": NoShellError,
    "not_at_prompt": NotAtPromptError,
    "not_found": NotFoundError,
    "off_screen": OffScreenError,
    "owned_by_adapter": OwnedByAdapterError,
    "parse_error": ParseError,
    "permission_denied": PermissionDeniedError,
    "plugin_built_in": PluginBuiltInError,
    "plugin_exists": PluginExistsError,
    "plugin_failed": PluginFailedError,
    "plugin_in_use": PluginInUseError,
    "plugin_without_code": PluginWithoutCodeError,
    "position_out_of_range": PositionOutOfRangeError,
    "reply_too_large": ReplyTooLargeError,
    "server_did_not_grant_plugin_load": ServerDidNotGrantPluginLoadError,
    "server_lost": ServerLostError,
    "session_closed": SessionClosedError,
    "session_ended": SessionEndedError,
    "session_forgotten": SessionForgottenError,
    "session_leased": SessionLeasedError,
    "shell_integration_unsupported": ShellIntegrationUnsupportedError,
    "shutting_down": ShuttingDownError,
    "size_out_of_range": SizeOutOfRangeError,
    "timeout": TimeoutError,
    "too_many_marks": TooManyMarksError,
    "too_many_secrets": TooManySecretsError,
    "turn_in_progress": TurnInProgressError,
    "unkillable": UnkillableError,
    "unknown_adapter": UnknownAdapterError,
    "unknown_host": UnknownHostError,
    "unknown_intent": UnknownIntentError,
    "unknown_method": UnknownMethodError,
    "unknown_plugin": UnknownPluginError,
    "unknown_predicate": UnknownPredicateError,
    "unknown_recording": UnknownRecordingError,
    "unknown_session": UnknownSessionError,
    "wait_id_in_use": WaitIdInUseError,
}
"""The class of each reason."""


__all__ = [
    "AmbiguousError",
    "BatchTooLargeError",
    "CancelledError",
    "CannotStartError",
    "CommandNotRunError",
    "DuplicateMemberError",
    "ERRORS",
    "EmptyBatchError",
    "ExpectationFailedError",
    "FileRefusedError",
    "ForbiddenError",
    "FramingLostError",
    "GoldenRefusedError",
    "HostLostError",
    "HostUnreachableError",
    "InputBlockedError",
    "InputFullError",
    "InputIdInUseError",
    "IntentRefusedError",
    "InternalError",
    "InvalidActionError",
    "InvalidEnvironmentError",
    "InvalidGoldenError",
    "InvalidLocatorError",
    "InvalidManifestError",
    "InvalidMatcherError",
    "InvalidParamsError",
    "InvalidRedactionError",
    "InvalidRequestError",
    "InvalidUtf8Error",
    "KeyNotRequestedError",
    "LimitExceededError",
    "LineTooLongError",
    "MemoryLimitUnsupportedError",
    "MessageTooLargeError",
    "MomentNotKeptError",
    "MouseNotRequestedError",
    "NameTakenError",
    "NestingTooDeepError",
    "NoProgramError",
    "NoShellError",
    "NotAtPromptError",
    "NotFoundError",
    "OffScreenError",
    "OwnedByAdapterError",
    "ParseError",
    "PermissionDeniedError",
    "PluginBuiltInError",
    "PluginExistsError",
    "PluginFailedError",
    "PluginInUseError",
    "PluginWithoutCodeError",
    "PositionOutOfRangeError",
    "ReplyTooLargeError",
    "ServerDidNotGrantPluginLoadError",
    "ServerLostError",
    "SessionClosedError",
    "SessionEndedError",
    "SessionForgottenError",
    "SessionLeasedError",
    "ShellIntegrationUnsupportedError",
    "ShuttingDownError",
    "SizeOutOfRangeError",
    "TimeoutError",
    "TooManyMarksError",
    "TooManySecretsError",
    "TurnInProgressError",
    "UnkillableError",
    "UnknownAdapterError",
    "UnknownHostError",
    "UnknownIntentError",
    "UnknownMethodError",
    "UnknownPluginError",
    "UnknownPredicateError",
    "UnknownRecordingError",
    "UnknownSessionError",
    "WaitIdInUseError",
]
