# Written by clients/python/generate.mjs from the served document: do not edit.
"""A function for each operation of the server."""

from __future__ import annotations

from typing import Any, BinaryIO, Dict, List, Literal, Mapping, Optional, Tuple, Union

from .transport import Download, Transport, quote
from .types import *  # noqa: F403


class Operations(Transport):
    """The operations by the names of the served document."""

    def get_auth(self) -> AuthSummary:
        """Whether models are ready and the managed login is valid."""
        return self._request("GET", f"/api/v1/auth")

    def get_capabilities(self) -> GetCapabilitiesReply:
        """All capabilities, detected now."""
        return self._request("GET", f"/api/v1/capabilities")

    def get_capability(self, capability_id: str) -> Capability:
        """A capability, detected now, and its installation."""
        return self._request("GET", f"/api/v1/capabilities/{quote(capability_id)}")

    def post_capability_install(self, capability_id: str) -> Capability:
        """Install or update a capability in the background."""
        return self._request("POST", f"/api/v1/capabilities/{quote(capability_id)}:install")

    def get_catalog_providers(self) -> GetCatalogProvidersReply:
        """List the providers of the public model directory."""
        return self._request("GET", f"/api/v1/catalog/providers")

    def get_catalog_provider(self, catalog_id: str) -> CatalogEntry:
        """Get a provider of the public model directory."""
        return self._request("GET", f"/api/v1/catalog/providers/{quote(catalog_id)}")

    def get_config(self) -> Config:
        """Get the configuration in effect, without secrets."""
        return self._request("GET", f"/api/v1/config")

    def post_config(self, body: ConfigPatch) -> Config:
        """Merge a partial configuration into the stored one."""
        return self._request("POST", f"/api/v1/config", body=body)

    def get_connections(self) -> GetConnectionsReply:
        """Established WebSocket connections, oldest first."""
        return self._request("GET", f"/api/v1/connections")

    def post_files(self, file: BinaryIO, name: str, fields: Optional[Mapping[str, str]] = None) -> File:
        """Upload a file for prompts."""
        return self._upload("POST", f"/api/v1/files", file=file, name=name, fields=fields)

    def delete_file(self, file_id: str) -> DeleteFileReply:
        """Delete an uploaded file; the copies in sessions remain."""
        return self._request("DELETE", f"/api/v1/files/{quote(file_id)}")

    def get_file(self, file_id: str, *, range: Optional[Tuple[int, Optional[int]]] = None) -> Download:
        """Download an uploaded file."""
        return self._download("GET", f"/api/v1/files/{quote(file_id)}", range=range)

    def get_fs_browse(self, *, path: Optional[str] = None) -> HostDirectory:
        """The directories in a directory of the machine, by default in the home of the user."""
        return self._request("GET", f"/api/v1/fs:browse", query={"path": path})

    def get_fs_content(self, *, path: str, range: Optional[Tuple[int, Optional[int]]] = None) -> Download:
        """The bytes of any file of the machine."""
        return self._download("GET", f"/api/v1/fs:content", query={"path": path}, range=range)

    def get_fs_home(self) -> GetFsHomeReply:
        """The home of the user, and the most recently opened workspaces."""
        return self._request("GET", f"/api/v1/fs:home")

    def post_fs_mkdir(self, body: PostFsMkdirBody) -> PostFsMkdirReply:
        """Create a directory anywhere on the machine."""
        return self._request("POST", f"/api/v1/fs:mkdir", body=body)

    def get_healthz(self) -> GetHealthzReply:
        """Liveness, without a token."""
        return self._request("GET", f"/api/v1/healthz")

    def get_mcp_servers(self) -> GetMcpServersReply:
        """MCP servers of the loaded session created last."""
        return self._request("GET", f"/api/v1/mcp/servers")

    def post_mcp_server_restart(self, mcp_server_id: str) -> PostMcpServerRestartReply:
        """Reconnect an MCP server."""
        return self._request("POST", f"/api/v1/mcp/servers/{quote(mcp_server_id)}:restart")

    def get_meta(self) -> Meta:
        """Version, capabilities and features of this server."""
        return self._request("GET", f"/api/v1/meta")

    def get_models(self) -> GetModelsReply:
        """List the models."""
        return self._request("GET", f"/api/v1/models")

    def post_model_set_default(self, model_id: str) -> PostModelSetDefaultReply:
        """Set the default model of new agents."""
        return self._request("POST", f"/api/v1/models/{quote(model_id)}:set_default")

    def delete_oauth_login(self, *, provider: Optional[str] = None) -> DeleteOauthLoginReply:
        """Cancel the pending login of a provider."""
        return self._request("DELETE", f"/api/v1/oauth/login", query={"provider": provider})

    def get_oauth_login(self, *, provider: Optional[str] = None) -> Union[LoginFlow, None]:
        """The last login of a provider, null without a code."""
        return self._request("GET", f"/api/v1/oauth/login", query={"provider": provider})

    def post_oauth_login(self, body: Optional[PostOauthLoginBody] = None) -> StartedLogin:
        """Start a login; a stored login that is still accepted needs no code."""
        return self._request("POST", f"/api/v1/oauth/login", body=body)

    def post_oauth_logout(self, body: Optional[PostOauthLogoutBody] = None) -> PostOauthLogoutReply:
        """Remove the login of a provider, the provider and its models."""
        return self._request("POST", f"/api/v1/oauth/logout", body=body)

    def get_oauth_region(self) -> GetOauthRegionReply:
        """The region of the cloud, resolved without a request."""
        return self._request("GET", f"/api/v1/oauth/region")

    def get_oauth_usage(self, *, provider: Optional[str] = None) -> Union[GetOauthUsageReply1, GetOauthUsageReply2]:
        """Usage of the account, requested from the cloud; failures are part of the reply."""
        return self._request("GET", f"/api/v1/oauth/usage", query={"provider": provider})

    def get_oauth_userinfo(self, *, provider: Optional[str] = None) -> Union[GetOauthUserinfoReply1, GetOauthUserinfoReply2]:
        """The user of the account, requested from the cloud; failures are part of the reply."""
        return self._request("GET", f"/api/v1/oauth/userinfo", query={"provider": provider})

    def get_plugins(self) -> GetPluginsReply:
        """Installed plugins, sorted by id."""
        return self._request("GET", f"/api/v1/plugins")

    def post_plugins(self, body: PostPluginsBody) -> Plugin:
        """Install a plugin, or replace the installed one with the same id."""
        return self._request("POST", f"/api/v1/plugins", body=body)

    def post_plugin_disable(self, plugin_id: str) -> PostPluginDisableReply:
        """Disable an installed plugin; it stays installed."""
        return self._request("POST", f"/api/v1/plugins/{quote(plugin_id)}:disable")

    def post_plugin_enable(self, plugin_id: str) -> PostPluginEnableReply:
        """Enable an installed plugin."""
        return self._request("POST", f"/api/v1/plugins/{quote(plugin_id)}:enable")

    def post_plugin_remove(self, plugin_id: str) -> PostPluginRemoveReply:
        """Remove a plugin from the installed ones."""
        return self._request("POST", f"/api/v1/plugins/{quote(plugin_id)}:remove")

    def get_plugins_marketplace(self) -> GetPluginsMarketplaceReply:
        """The configured catalog of plugins, and which of them are installed."""
        return self._request("GET", f"/api/v1/plugins/marketplace")

    def get_providers(self) -> GetProvidersReply:
        """List the providers, without keys."""
        return self._request("GET", f"/api/v1/providers")

    def post_providers(self, body: PostProvidersBody) -> ProviderItem:
        """Add a provider with its models."""
        return self._request("POST", f"/api/v1/providers", body=body)

    def delete_provider(self, provider_id: str) -> Dict[str, Any]:
        """Delete a provider and its models."""
        return self._document("DELETE", f"/api/v1/providers/{quote(provider_id)}")

    def get_provider(self, provider_id: str) -> ProviderDetail:
        """Get a provider with its stored key."""
        return self._request("GET", f"/api/v1/providers/{quote(provider_id)}")

    def put_provider(self, provider_id: str, body: PutProviderBody) -> PutProviderReply:
        """Replace a provider and its models, or rename it."""
        return self._request("PUT", f"/api/v1/providers/{quote(provider_id)}", body=body)

    def post_provider_refresh(self, provider_id: str, body: Optional[Any] = None) -> RefreshReport:
        """Refresh the models of one provider from its source."""
        return self._request("POST", f"/api/v1/providers/{quote(provider_id)}:refresh", body=body)

    def post_providers_import_catalog(self, body: PostProvidersImportCatalogBody) -> PostProvidersImportCatalogReply:
        """Import a provider of the public model directory."""
        return self._request("POST", f"/api/v1/providers:import_catalog", body=body)

    def post_providers_import_registry(self, body: PostProvidersImportRegistryBody) -> PostProvidersImportRegistryReply:
        """Import the providers of a custom registry."""
        return self._request("POST", f"/api/v1/providers:import_registry", body=body)

    def post_providers_refresh(self, body: Optional[Any] = None) -> RefreshReport:
        """Refresh the models of all providers from their sources."""
        return self._request("POST", f"/api/v1/providers:refresh", body=body)

    def post_providers_refresh_oauth(self, body: Optional[Any] = None) -> RefreshReport:
        """Refresh the models of the managed login."""
        return self._request("POST", f"/api/v1/providers:refresh_oauth", body=body)

    def get_remote_control(self) -> RemoteStatus:
        """State of remote control."""
        return self._request("GET", f"/api/v1/remote-control")

    def post_remote_control(self, body: PostRemoteControlBody) -> RemoteStatus:
        """Start or stop remote control."""
        return self._request("POST", f"/api/v1/remote-control", body=body)

    def get_remote_control_devices(self) -> GetRemoteControlDevicesReply:
        """Devices of the account, in the order of the cloud."""
        return self._request("GET", f"/api/v1/remote-control/devices")

    def delete_remote_control_device(self, id: str) -> DeleteRemoteControlDeviceReply:
        """Remove a device from the account and disconnect it."""
        return self._request("DELETE", f"/api/v1/remote-control/devices/{quote(id)}")

    def patch_remote_control_device(self, id: str, body: PatchRemoteControlDeviceBody) -> PatchRemoteControlDeviceReply:
        """Rename a device."""
        return self._request("PATCH", f"/api/v1/remote-control/devices/{quote(id)}", body=body)

    def post_remote_control_device_deactivate(self, id: str) -> PostRemoteControlDeviceDeactivateReply:
        """Deactivate a device: it stays listed, but is no part of the quota."""
        return self._request("POST", f"/api/v1/remote-control/devices/{quote(id)}/deactivate")

    def post_search(self, body: PostSearchBody) -> PostSearchReply:
        """Search what was said in all sessions."""
        return self._request("POST", f"/api/v1/search", body=body)

    def get_sessions(self, *, before_id: Optional[str] = None, after_id: Optional[str] = None, page_size: Optional[int] = None, busy: Optional[bool] = None, include_archive: Optional[bool] = None, archived_only: Optional[bool] = None, exclude_empty: Optional[bool] = None, workspace_id: Optional[str] = None) -> GetSessionsReply:
        """List sessions, most recently updated first."""
        return self._request("GET", f"/api/v1/sessions", query={"before_id": before_id, "after_id": after_id, "page_size": page_size, "busy": busy, "include_archive": include_archive, "archived_only": archived_only, "exclude_empty": exclude_empty, "workspace_id": workspace_id})

    def post_sessions(self, body: PostSessionsBody) -> Session:
        """Create a session."""
        return self._request("POST", f"/api/v1/sessions", body=body)

    def get_session(self, session_id: str) -> Session:
        """Read a session without loading it."""
        return self._request("GET", f"/api/v1/sessions/{quote(session_id)}")

    def post_session_abort(self, session_id: str, body: Optional[Dict[str, Any]] = None) -> PostSessionAbortReply:
        """Cancel the running turn of the main agent, or the compaction of its conversation."""
        return self._request("POST", f"/api/v1/sessions/{quote(session_id)}:abort", body=body)

    def post_session_archive(self, session_id: str, body: Optional[Dict[str, Any]] = None) -> PostSessionArchiveReply:
        """Archive a session."""
        return self._request("POST", f"/api/v1/sessions/{quote(session_id)}:archive", body=body)

    def post_session_btw(self, session_id: str, body: Optional[Dict[str, Any]] = None) -> PostSessionBtwReply:
        """Open a side conversation: a read-only agent on a copy of the main one, addressed by its id in prompts."""
        return self._request("POST", f"/api/v1/sessions/{quote(session_id)}:btw", body=body)

    def post_session_compact(self, session_id: str, body: Optional[PostSessionCompactBody] = None) -> Dict[str, Any]:
        """Compact the conversation of the main agent to a summary; `compaction.*` events report the progress."""
        return self._request("POST", f"/api/v1/sessions/{quote(session_id)}:compact", body=body)

    def post_session_fork(self, session_id: str, body: Optional[PostSessionForkBody] = None) -> Session:
        """Create a session as a copy of this one."""
        return self._request("POST", f"/api/v1/sessions/{quote(session_id)}:fork", body=body)

    def post_session_restore(self, session_id: str, body: Optional[Dict[str, Any]] = None) -> Session:
        """Un-archive a session and load it."""
        return self._request("POST", f"/api/v1/sessions/{quote(session_id)}:restore", body=body)

    def post_session_undo(self, session_id: str, body: Optional[PostSessionUndoBody] = None) -> PostSessionUndoReply:
        """Undo the last turns of the conversation; their effects on files and tasks remain."""
        return self._request("POST", f"/api/v1/sessions/{quote(session_id)}:undo", body=body)

    def get_session_approvals(self, session_id: str, *, status: Literal["pending"]) -> GetSessionApprovalsReply:
        """Pending approvals of all agents, oldest first."""
        return self._request("GET", f"/api/v1/sessions/{quote(session_id)}/approvals", query={"status": status})

    def post_session_approval(self, session_id: str, approval_id: str, body: PostSessionApprovalBody) -> PostSessionApprovalReply:
        """Answer an approval; the first answer wins."""
        return self._request("POST", f"/api/v1/sessions/{quote(session_id)}/approvals/{quote(approval_id)}", body=body)

    def get_session_children(self, session_id: str, *, before_id: Optional[str] = None, after_id: Optional[str] = None, page_size: Optional[int] = None, busy: Optional[bool] = None) -> GetSessionChildrenReply:
        """List the children of a session, most recently updated first."""
        return self._request("GET", f"/api/v1/sessions/{quote(session_id)}/children", query={"before_id": before_id, "after_id": after_id, "page_size": page_size, "busy": busy})

    def post_session_children(self, session_id: str, body: Optional[PostSessionChildrenBody] = None) -> Session:
        """Create a child session: a copy of this one that is listed as its child."""
        return self._request("POST", f"/api/v1/sessions/{quote(session_id)}/children", body=body)

    def post_session_export(self, session_id: str, body: Optional[PostSessionExportBody] = None, *, range: Optional[Tuple[int, Optional[int]]] = None) -> Download:
        """Download a session as a zip archive."""
        return self._download("POST", f"/api/v1/sessions/{quote(session_id)}/export", body=body, range=range)

    def get_session_fs_download(self, session_id: str, path: str, *, runtime_id: Optional[str] = None, range: Optional[Tuple[int, Optional[int]]] = None) -> Download:
        """The bytes of a file."""
        return self._download("GET", f"/api/v1/sessions/{quote(session_id)}/fs/{quote(path)}:download", query={"runtime_id": runtime_id}, range=range)

    def post_session_fs_diff(self, session_id: str, body: Optional[PostSessionFsDiffBody] = None) -> GitDiff:
        """How a file or directory differs from the last commit, as a unified diff."""
        return self._request("POST", f"/api/v1/sessions/{quote(session_id)}/fs:diff", body=body)

    def post_session_fs_git_status(self, session_id: str, body: Optional[PostSessionFsGitStatusBody] = None) -> GitStatusReply:
        """Changes since the last commit, branch and pull request."""
        return self._request("POST", f"/api/v1/sessions/{quote(session_id)}/fs:git_status", body=body)

    def post_session_fs_grep(self, session_id: str, body: Optional[PostSessionFsGrepBody] = None) -> GrepReply:
        """Search the contents of files."""
        return self._request("POST", f"/api/v1/sessions/{quote(session_id)}/fs:grep", body=body)

    def post_session_fs_list(self, session_id: str, body: Optional[PostSessionFsListBody] = None) -> FileList:
        """List a directory."""
        return self._request("POST", f"/api/v1/sessions/{quote(session_id)}/fs:list", body=body)

    def post_session_fs_list_many(self, session_id: str, body: Optional[PostSessionFsListManyBody] = None) -> FileLists:
        """List many directories."""
        return self._request("POST", f"/api/v1/sessions/{quote(session_id)}/fs:list_many", body=body)

    def post_session_fs_mkdir(self, session_id: str, body: Optional[PostSessionFsMkdirBody] = None) -> FileEntry:
        """Make a directory."""
        return self._request("POST", f"/api/v1/sessions/{quote(session_id)}/fs:mkdir", body=body)

    def post_session_fs_open(self, session_id: str, body: Optional[PostSessionFsOpenBody] = None) -> PostSessionFsOpenReply:
        """Open a file or directory on the machine of the server, in the editor that the user has set."""
        return self._request("POST", f"/api/v1/sessions/{quote(session_id)}/fs:open", body=body)

    def post_session_fs_open_in(self, session_id: str, body: Optional[PostSessionFsOpenInBody] = None) -> PostSessionFsOpenInReply:
        """Open a file or directory in a given program on the machine of the server."""
        return self._request("POST", f"/api/v1/sessions/{quote(session_id)}/fs:open-in", body=body)

    def post_session_fs_read(self, session_id: str, body: Optional[PostSessionFsReadBody] = None) -> FileContent:
        """Read a range of a file, as text if possible."""
        return self._request("POST", f"/api/v1/sessions/{quote(session_id)}/fs:read", body=body)

    def post_session_fs_reveal(self, session_id: str, body: Optional[PostSessionFsRevealBody] = None) -> PostSessionFsRevealReply:
        """Show a file or directory in the file manager on the machine of the server."""
        return self._request("POST", f"/api/v1/sessions/{quote(session_id)}/fs:reveal", body=body)

    def post_session_fs_search(self, session_id: str, body: Optional[PostSessionFsSearchBody] = None) -> FileHits:
        """Find files by parts of their names, best first."""
        return self._request("POST", f"/api/v1/sessions/{quote(session_id)}/fs:search", body=body)

    def post_session_fs_stat(self, session_id: str, body: Optional[PostSessionFsStatBody] = None) -> FileEntry:
        """Metadata of a file, directory or link."""
        return self._request("POST", f"/api/v1/sessions/{quote(session_id)}/fs:stat", body=body)

    def post_session_fs_stat_many(self, session_id: str, body: Optional[PostSessionFsStatManyBody] = None) -> PostSessionFsStatManyReply:
        """Metadata of many paths."""
        return self._request("POST", f"/api/v1/sessions/{quote(session_id)}/fs:stat_many", body=body)

    def get_session_goal(self, session_id: str) -> Union[Goal, None]:
        """Read the goal of the main agent."""
        return self._request("GET", f"/api/v1/sessions/{quote(session_id)}/goal")

    def get_session_media(self, session_id: str, file_id: str, *, range: Optional[Tuple[int, Optional[int]]] = None) -> Download:
        """Download a file that a prompt of the session references."""
        return self._download("GET", f"/api/v1/sessions/{quote(session_id)}/media/{quote(file_id)}", range=range)

    def get_session_messages(self, session_id: str, *, before_id: Optional[str] = None, after_id: Optional[str] = None, page_size: Optional[int] = None, role: Optional[Literal["user", "assistant", "tool", "system"]] = None) -> GetSessionMessagesReply:
        """Page through the messages of the main agent, newest first."""
        return self._request("GET", f"/api/v1/sessions/{quote(session_id)}/messages", query={"before_id": before_id, "after_id": after_id, "page_size": page_size, "role": role})

    def get_session_message(self, session_id: str, message_id: str) -> Message:
        """Read one message."""
        return self._request("GET", f"/api/v1/sessions/{quote(session_id)}/messages/{quote(message_id)}")

    def get_session_profile(self, session_id: str) -> Session:
        """Read the profile of a session: the same object as the session itself."""
        return self._request("GET", f"/api/v1/sessions/{quote(session_id)}/profile")

    def post_session_profile(self, session_id: str, body: PostSessionProfileBody) -> Session:
        """Change title, metadata and agent settings of a session."""
        return self._request("POST", f"/api/v1/sessions/{quote(session_id)}/profile", body=body)

    def get_session_prompts(self, session_id: str) -> GetSessionPromptsReply:
        """The running prompt of the main agent and the queued ones."""
        return self._request("GET", f"/api/v1/sessions/{quote(session_id)}/prompts")

    def post_session_prompts(self, session_id: str, body: PostSessionPromptsBody) -> Prompt:
        """Submit a prompt; the reply is sent when it is running or queued."""
        return self._request("POST", f"/api/v1/sessions/{quote(session_id)}/prompts", body=body)

    def post_session_prompt_abort(self, session_id: str, prompt_id: str) -> PostSessionPromptAbortReply:
        """Cancel a running prompt or remove a queued one."""
        return self._request("POST", f"/api/v1/sessions/{quote(session_id)}/prompts/{quote(prompt_id)}:abort")

    def post_session_prompt_steer(self, session_id: str, prompt_id: str) -> PostSessionPromptSteerReply:
        """Move a queued prompt into the running turn."""
        return self._request("POST", f"/api/v1/sessions/{quote(session_id)}/prompts/{quote(prompt_id)}:steer")

    def post_session_prompts_steer(self, session_id: str, body: PostSessionPromptsSteerBody) -> PostSessionPromptsSteerReply:
        """Move queued prompts into the running turn."""
        return self._request("POST", f"/api/v1/sessions/{quote(session_id)}/prompts:steer", body=body)

    def get_session_questions(self, session_id: str, *, status: Literal["pending"]) -> GetSessionQuestionsReply:
        """Pending questions of all agents, oldest first."""
        return self._request("GET", f"/api/v1/sessions/{quote(session_id)}/questions", query={"status": status})

    def post_session_question(self, session_id: str, question_id: str, body: PostSessionQuestionBody) -> PostSessionQuestionReply:
        """Answer a question; the first answer wins."""
        return self._request("POST", f"/api/v1/sessions/{quote(session_id)}/questions/{quote(question_id)}", body=body)

    def post_session_question_dismiss(self, session_id: str, question_id: str) -> Any:
        """Dismiss a question; the reply has code 40909."""
        return self._request("POST", f"/api/v1/sessions/{quote(session_id)}/questions/{quote(question_id)}:dismiss")

    def get_session_runtime(self, session_id: str) -> GetSessionRuntimeReply:
        """Read which runtime the main agent works on."""
        return self._request("GET", f"/api/v1/sessions/{quote(session_id)}/runtime")

    def post_session_runtime(self, session_id: str, body: PostSessionRuntimeBody) -> PostSessionRuntimeReply:
        """Switch the runtime of the main agent, from its next call on."""
        return self._request("POST", f"/api/v1/sessions/{quote(session_id)}/runtime", body=body)

    def get_session_skills(self, session_id: str) -> GetSessionSkillsReply:
        """The skills and slash commands of a session; loads the session."""
        return self._request("GET", f"/api/v1/sessions/{quote(session_id)}/skills")

    def post_session_skill_activate(self, session_id: str, skill_name: str, body: PostSessionSkillActivateBody) -> PostSessionSkillActivateReply:
        """Activate a skill or the command of a plugin; the reply is sent when it runs or waits."""
        return self._request("POST", f"/api/v1/sessions/{quote(session_id)}/skills/{quote(skill_name)}:activate", body=body)

    def get_session_snapshot(self, session_id: str) -> SessionSnapshot:
        """The state from which a client rebuilds its view, with the cursor to continue from."""
        return self._request("GET", f"/api/v1/sessions/{quote(session_id)}/snapshot")

    def get_session_status(self, session_id: str) -> SessionStatus:
        """Status rollup of a session: activity, model, modes, context size."""
        return self._request("GET", f"/api/v1/sessions/{quote(session_id)}/status")

    def get_session_tasks(self, session_id: str, *, status: Optional[Literal["running", "completed", "failed", "cancelled"]] = None) -> GetSessionTasksReply:
        """List the tasks of the main agent; empty for a session that is not loaded."""
        return self._request("GET", f"/api/v1/sessions/{quote(session_id)}/tasks", query={"status": status})

    def get_session_task(self, session_id: str, task_id: str, *, with_output: Optional[bool] = None, output_bytes: Optional[int] = None) -> Task:
        """Read a task, with the end of its output on request."""
        return self._request("GET", f"/api/v1/sessions/{quote(session_id)}/tasks/{quote(task_id)}", query={"with_output": with_output, "output_bytes": output_bytes})

    def post_session_task_cancel(self, session_id: str, task_id: str) -> PostSessionTaskCancelReply:
        """Stop a running task and wait for its end."""
        return self._request("POST", f"/api/v1/sessions/{quote(session_id)}/tasks/{quote(task_id)}:cancel")

    def post_session_task_detach(self, session_id: str, task_id: str) -> PostSessionTaskDetachReply:
        """Move a task that a call waits for to the background."""
        return self._request("POST", f"/api/v1/sessions/{quote(session_id)}/tasks/{quote(task_id)}:detach")

    def get_session_terminals(self, session_id: str) -> GetSessionTerminalsReply:
        """List the terminals of a session, running and exited, in the order of their start."""
        return self._request("GET", f"/api/v1/sessions/{quote(session_id)}/terminals")

    def post_session_terminals(self, session_id: str, body: PostSessionTerminalsBody) -> PostSessionTerminalsReply:
        """Start a terminal in the directory of a session."""
        return self._request("POST", f"/api/v1/sessions/{quote(session_id)}/terminals", body=body)

    def get_session_terminal(self, session_id: str, terminal_id: str) -> GetSessionTerminalReply:
        """Read a terminal."""
        return self._request("GET", f"/api/v1/sessions/{quote(session_id)}/terminals/{quote(terminal_id)}")

    def post_session_terminal_close(self, session_id: str, terminal_id: str) -> PostSessionTerminalCloseReply:
        """End a terminal and its program."""
        return self._request("POST", f"/api/v1/sessions/{quote(session_id)}/terminals/{quote(terminal_id)}:close")

    def post_session_title_generate(self, session_id: str, body: Optional[PostSessionTitleGenerateBody] = None) -> PostSessionTitleGenerateReply:
        """Generate a title from the conversation."""
        return self._request("POST", f"/api/v1/sessions/{quote(session_id)}/title/generate", body=body)

    def get_session_transcript(self, session_id: str, *, agent_id: str, before_turn: Optional[str] = None, after_turn: Optional[str] = None, before_id: Optional[str] = None, after_id: Optional[str] = None, page_size: Optional[int] = None) -> GetSessionTranscriptReply:
        """Page through an agent's transcript, newest turns first."""
        return self._request("GET", f"/api/v1/sessions/{quote(session_id)}/transcript", query={"agent_id": agent_id, "before_turn": before_turn, "after_turn": after_turn, "before_id": before_id, "after_id": after_id, "page_size": page_size})

    def get_session_transcript_ops(self, session_id: str, *, agent_id: str, since_seq: int) -> GetSessionTranscriptOpsReply:
        """Read the operations that changed an agent's transcript since a batch."""
        return self._request("GET", f"/api/v1/sessions/{quote(session_id)}/transcript/ops", query={"agent_id": agent_id, "since_seq": since_seq})

    def get_session_transcript_plan(self, session_id: str, *, agent_id: str, tool_call_id: Optional[str] = None) -> GetSessionTranscriptPlanReply:
        """List the plans that an agent submitted for review."""
        return self._request("GET", f"/api/v1/sessions/{quote(session_id)}/transcript/plan", query={"agent_id": agent_id, "tool_call_id": tool_call_id})

    def get_session_transcript_user_messages(self, session_id: str, *, agent_id: Optional[str] = None) -> GetSessionTranscriptUserMessagesReply:
        """List the inputs that opened the turns of an agent, or of all."""
        return self._request("GET", f"/api/v1/sessions/{quote(session_id)}/transcript/user-messages", query={"agent_id": agent_id})

    def get_session_warnings(self, session_id: str) -> GetSessionWarningsReply:
        """Warnings about the session, such as oversized instruction files."""
        return self._request("GET", f"/api/v1/sessions/{quote(session_id)}/warnings")

    def post_shutdown(self) -> PostShutdownReply:
        """Stop the server."""
        return self._request("POST", f"/api/v1/shutdown")

    def get_tools(self, *, session_id: Optional[str] = None) -> GetToolsReply:
        """Tools of a loaded session, by default of the one created last."""
        return self._request("GET", f"/api/v1/tools", query={"session_id": session_id})

    def post_workspace_fs_search(self, body: PostWorkspaceFsSearchBody) -> FileHits:
        """Find files of a workspace by parts of their names, best first."""
        return self._request("POST", f"/api/v1/workspace/fs:search", body=body)

    def post_workspace_fs_suggest(self, body: PostWorkspaceFsSuggestBody) -> FileHits:
        """Complete the name of a file of a workspace."""
        return self._request("POST", f"/api/v1/workspace/fs:suggest", body=body)

    def get_workspaces(self) -> GetWorkspacesReply:
        """List the registered project directories, in the order of registration."""
        return self._request("GET", f"/api/v1/workspaces")

    def post_workspaces(self, body: PostWorkspacesBody) -> Workspace:
        """Register a project directory, or open a registered one again."""
        return self._request("POST", f"/api/v1/workspaces", body=body)

    def delete_workspace(self, workspace_id: str) -> DeleteWorkspaceReply:
        """Unregister a workspace; its sessions and files stay."""
        return self._request("DELETE", f"/api/v1/workspaces/{quote(workspace_id)}")

    def patch_workspace(self, workspace_id: str, body: PatchWorkspaceBody) -> Workspace:
        """Rename a workspace."""
        return self._request("PATCH", f"/api/v1/workspaces/{quote(workspace_id)}", body=body)

    def post_workspace_add_dir(self, workspace_id: str, body: PostWorkspaceAddDirBody) -> PostWorkspaceAddDirReply:
        """Add a directory to a workspace."""
        return self._request("POST", f"/api/v1/workspaces/{quote(workspace_id)}/add-dir", body=body)

    def get_workspace_skills(self, workspace_id: str) -> GetWorkspaceSkillsReply:
        """The skills and slash commands of a workspace, without a session."""
        return self._request("GET", f"/api/v1/workspaces/{quote(workspace_id)}/skills")

    def get_workspace_trust(self, workspace_id: str) -> GetWorkspaceTrustReply:
        """Whether a workspace is trusted."""
        return self._request("GET", f"/api/v1/workspaces/{quote(workspace_id)}/trust")

    def post_workspace_trust(self, workspace_id: str) -> PostWorkspaceTrustReply:
        """Trust a workspace."""
        return self._request("POST", f"/api/v1/workspaces/{quote(workspace_id)}/trust")

    def post_workspace_untrust(self, workspace_id: str) -> PostWorkspaceUntrustReply:
        """Revoke the trust of a workspace."""
        return self._request("POST", f"/api/v1/workspaces/{quote(workspace_id)}/untrust")

    def get_v2_mcp_auth_statuses(self, *, cwd: Optional[str] = None, verify: Optional[Literal["true", "false"]] = None) -> List[GetV2McpAuthStatusesReplyItem]:
        """List which configured MCP servers need a sign-in."""
        return self._request("GET", f"/api/v2/mcp/auth-statuses", query={"cwd": cwd, "verify": verify})

    def post_v2_mcp_auth_begin(self, body: Union[PostV2McpAuthBeginBody1, PostV2McpAuthBeginBody2], *, cwd: Optional[str] = None) -> Union[PostV2McpAuthBeginReply1, PostV2McpAuthBeginReply2]:
        """Begin a sign-in to an MCP server."""
        return self._request("POST", f"/api/v2/mcp/auth:begin", query={"cwd": cwd}, body=body)

    def post_v2_mcp_auth_cancel(self, body: PostV2McpAuthCancelBody) -> None:
        """Cancel a sign-in."""
        return self._request("POST", f"/api/v2/mcp/auth:cancel", body=body)

    def post_v2_mcp_auth_complete(self, body: PostV2McpAuthCompleteBody) -> None:
        """Wait until a sign-in has completed."""
        return self._request("POST", f"/api/v2/mcp/auth:complete", body=body)

    def post_v2_mcp_auth_reset(self, body: Union[PostV2McpAuthResetBody1, PostV2McpAuthResetBody2], *, cwd: Optional[str] = None) -> None:
        """Remove the sign-in to an MCP server."""
        return self._request("POST", f"/api/v2/mcp/auth:reset", query={"cwd": cwd}, body=body)

    def get_v2_mcp_servers(self, *, cwd: Optional[str] = None) -> List[GetV2McpServersReplyItem]:
        """List the configured MCP servers."""
        return self._request("GET", f"/api/v2/mcp/servers", query={"cwd": cwd})

    def post_v2_mcp_servers(self, body: Union[PostV2McpServersBody1, PostV2McpServersBody2], *, cwd: Optional[str] = None) -> List[PostV2McpServersReplyItem]:
        """Add an MCP server to the user's file."""
        return self._request("POST", f"/api/v2/mcp/servers", query={"cwd": cwd}, body=body)

    def delete_v2_mcp_server(self, name: str, *, cwd: Optional[str] = None) -> List[DeleteV2McpServerReplyItem]:
        """Remove an MCP server from the user's file."""
        return self._request("DELETE", f"/api/v2/mcp/servers/{quote(name)}", query={"cwd": cwd})

    def get_v2_mcp_server(self, name: str, *, cwd: Optional[str] = None) -> GetV2McpServerReply:
        """Get a configured MCP server."""
        return self._request("GET", f"/api/v2/mcp/servers/{quote(name)}", query={"cwd": cwd})

    def put_v2_mcp_server(self, name: str, body: Union[PutV2McpServerBody1, PutV2McpServerBody2], *, cwd: Optional[str] = None) -> List[PutV2McpServerReplyItem]:
        """Replace an MCP server of the user's file."""
        return self._request("PUT", f"/api/v2/mcp/servers/{quote(name)}", query={"cwd": cwd}, body=body)

    def post_v2_mcp_servers_inspect(self, body: PostV2McpServersInspectBody) -> List[PostV2McpServersInspectReplyItem]:
        """Inspect configured MCP servers and connect to those that may need a sign-in."""
        return self._request("POST", f"/api/v2/mcp/servers:inspect", body=body)

    def post_v2_mcp_servers_test(self, body: PostV2McpServersTestBody) -> PostV2McpServersTestReply:
        """Connect to an MCP server and list its tools, without storing them."""
        return self._request("POST", f"/api/v2/mcp/servers:test", body=body)

    def get_v2_sessions(self, *, workspace_id: Optional[List[str]] = None, activity_status: Optional[List[Literal["running", "approval", "question", "failed", "idle"]]] = None, meta_updated_after: Optional[int] = None, meta_updated_before: Optional[int] = None, meta_archived: Optional[Literal["true", "false", "all"]] = None, meta_has_prompt: Optional[Literal["true", "false"]] = None, view: Optional[Literal["flat", "by_workspace"]] = None, group_page_size: Optional[int] = None, sort: Optional[Literal["meta.updated_at_desc", "meta.updated_at_asc", "meta.created_at_desc"]] = None, include: Optional[str] = None, fields: Optional[str] = None, page_size: Optional[int] = None, page: Optional[int] = None, page_token: Optional[str] = None) -> Union[GetV2SessionsReply1, GetV2SessionsReply2]:
        """List sessions with filters, flat or grouped by workspace, without loading any."""
        return self._request("GET", f"/api/v2/sessions", query={"workspace.id": workspace_id, "activity.status": activity_status, "meta.updated_after": meta_updated_after, "meta.updated_before": meta_updated_before, "meta.archived": meta_archived, "meta.has_prompt": meta_has_prompt, "view": view, "group.page_size": group_page_size, "sort": sort, "include": include, "fields": fields, "page_size": page_size, "page": page, "page_token": page_token})

    def post_v2_sessions_archive(self, body: PostV2SessionsArchiveBody) -> PostV2SessionsArchiveReply:
        """Archive sessions."""
        return self._request("POST", f"/api/v2/sessions:archive", body=body)

    def post_v2_sessions_restore(self, body: PostV2SessionsRestoreBody) -> PostV2SessionsRestoreReply:
        """Un-archive sessions without loading them."""
        return self._request("POST", f"/api/v2/sessions:restore", body=body)

    def get_asyncapi_json(self) -> Dict[str, Any]:
        """The WebSocket API as AsyncAPI 3.1."""
        return self._document("GET", f"/asyncapi.json")

    def get_openapi_json(self) -> Dict[str, Any]:
        """This document."""
        return self._document("GET", f"/openapi.json")
