# Written by clients/python/generate.mjs from the served document: do not edit.
"""Types of bodies and replies."""

from __future__ import annotations

from typing import Any, Dict, List, Literal, TypedDict, Union

class _ApprovalRequestToolInputDisplay1(TypedDict):
    kind: Literal["command"]
    command: str


class ApprovalRequestToolInputDisplay1(_ApprovalRequestToolInputDisplay1, total=False):
    cwd: str
    description: str
    language: Literal["bash"]


class _ApprovalRequestToolInputDisplay2(TypedDict):
    kind: Literal["file_io"]
    operation: Literal["read", "write", "edit", "glob", "grep"]
    path: str


class ApprovalRequestToolInputDisplay2(_ApprovalRequestToolInputDisplay2, total=False):
    detail: str
    content: str
    before: str
    after: str


class _ApprovalRequestToolInputDisplay3(TypedDict):
    kind: Literal["diff"]
    path: str
    before: str
    after: str


class ApprovalRequestToolInputDisplay3(_ApprovalRequestToolInputDisplay3, total=False):
    hunks: float


class _ApprovalRequestToolInputDisplay4(TypedDict):
    kind: Literal["search"]
    query: str


class ApprovalRequestToolInputDisplay4(_ApprovalRequestToolInputDisplay4, total=False):
    scope: str


class _ApprovalRequestToolInputDisplay5(TypedDict):
    kind: Literal["url_fetch"]
    url: str


class ApprovalRequestToolInputDisplay5(_ApprovalRequestToolInputDisplay5, total=False):
    method: str


class _ApprovalRequestToolInputDisplay6(TypedDict):
    kind: Literal["agent_call"]
    agent_name: str
    prompt: str


class ApprovalRequestToolInputDisplay6(_ApprovalRequestToolInputDisplay6, total=False):
    background: bool


class _ApprovalRequestToolInputDisplay7(TypedDict):
    kind: Literal["skill_call"]
    skill_name: str


class ApprovalRequestToolInputDisplay7(_ApprovalRequestToolInputDisplay7, total=False):
    args: str


class ApprovalRequestToolInputDisplay8ItemsItem(TypedDict):
    title: str
    status: str


class ApprovalRequestToolInputDisplay8(TypedDict):
    kind: Literal["todo_list"]
    items: List[ApprovalRequestToolInputDisplay8ItemsItem]


class _ApprovalRequestToolInputDisplay9(TypedDict):
    kind: Literal["task"]
    task_id: str
    status: str
    description: str


class ApprovalRequestToolInputDisplay9(_ApprovalRequestToolInputDisplay9, total=False):
    task_kind: str


class ApprovalRequestToolInputDisplay10(TypedDict):
    kind: Literal["task_stop"]
    task_id: str
    task_description: str


class _ApprovalRequestToolInputDisplay11OptionsItem(TypedDict):
    label: str


class ApprovalRequestToolInputDisplay11OptionsItem(_ApprovalRequestToolInputDisplay11OptionsItem, total=False):
    description: str


class _ApprovalRequestToolInputDisplay11(TypedDict):
    kind: Literal["plan_review"]
    plan: str


class ApprovalRequestToolInputDisplay11(_ApprovalRequestToolInputDisplay11, total=False):
    path: str
    options: List[ApprovalRequestToolInputDisplay11OptionsItem]


class _ApprovalRequestToolInputDisplay12(TypedDict):
    kind: Literal["goal_start"]
    objective: str
    mode: Literal["manual", "yolo"]


class ApprovalRequestToolInputDisplay12(_ApprovalRequestToolInputDisplay12, total=False):
    completionCriterion: str


class _ApprovalRequestToolInputDisplay13(TypedDict):
    kind: Literal["generic"]
    summary: str


class ApprovalRequestToolInputDisplay13(_ApprovalRequestToolInputDisplay13, total=False):
    detail: Any


class _ApprovalRequest(TypedDict):
    approval_id: str
    session_id: str
    agent_id: str
    tool_call_id: str
    tool_name: str
    action: str
    tool_input_display: Union[ApprovalRequestToolInputDisplay1, ApprovalRequestToolInputDisplay2, ApprovalRequestToolInputDisplay3, ApprovalRequestToolInputDisplay4, ApprovalRequestToolInputDisplay5, ApprovalRequestToolInputDisplay6, ApprovalRequestToolInputDisplay7, ApprovalRequestToolInputDisplay8, ApprovalRequestToolInputDisplay9, ApprovalRequestToolInputDisplay10, ApprovalRequestToolInputDisplay11, ApprovalRequestToolInputDisplay12, ApprovalRequestToolInputDisplay13]
    created_at: str
    expires_at: str


class ApprovalRequest(_ApprovalRequest, total=False):
    turn_id: int


class AuthSummaryManagedProvider1(TypedDict):
    name: str
    status: Literal["authenticated", "expired", "revoked", "unauthenticated"]


class AuthSummary(TypedDict):
    models_ready: bool
    providers_count: int
    managed_provider: Union[AuthSummaryManagedProvider1, None]


class _CapabilityStepsItem(TypedDict):
    id: str
    state: Literal["ok", "missing", "failed"]


class CapabilityStepsItem(_CapabilityStepsItem, total=False):
    detail: str
    optional: bool


class _Capability(TypedDict):
    id: str
    displayName: str
    description: str
    supported: bool
    state: Literal["ready", "partial", "not_installed", "unsupported"]
    steps: List[CapabilityStepsItem]
    install: CapabilityInstall


class Capability(_Capability, total=False):
    pluginId: str
    version: str


class _CapabilityInstall(TypedDict):
    running: bool


class CapabilityInstall(_CapabilityInstall, total=False):
    step: str
    percent: float
    error: str
    note: str


class _CatalogEntryModelsItem(TypedDict):
    id: str
    max_context_size: int
    reasoning: bool


class CatalogEntryModelsItem(_CatalogEntryModelsItem, total=False):
    name: str
    capabilities: List[str]


class CatalogEntry(TypedDict):
    id: str
    name: str
    wire_type: Union[Literal["native", "openai", "openai_responses", "anthropic", "google-genai", "vertexai"], None]
    base_url: Union[str, None]
    guessed: bool
    needs_base_url: bool
    rejected: bool
    reject_reason: Union[Literal["unknown-explicit-type", "proprietary-sdk"], None]
    env_key: Union[str, None]
    models: List[CatalogEntryModelsItem]


class _ConfigProvidersValue(TypedDict):
    type: str
    has_api_key: bool


class ConfigProvidersValue(_ConfigProvidersValue, total=False):
    base_url: str
    default_model: str


class ConfigThinking(TypedDict, total=False):
    enabled: bool
    effort: str
    forcedEffort: str
    keep: str


class _ConfigPermissionRulesItem(TypedDict):
    decision: Literal["allow", "deny", "ask"]
    scope: Literal["turn-override", "session-runtime", "project", "user"]
    pattern: str


class ConfigPermissionRulesItem(_ConfigPermissionRulesItem, total=False):
    reason: str


class ConfigPermission(TypedDict, total=False):
    rules: List[ConfigPermissionRulesItem]


class _ConfigHooksItem(TypedDict):
    event: Literal["PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest", "PermissionResult", "UserPromptSubmit", "UserPromptQueued", "TurnStarted", "Stop", "StopFailure", "Interrupt", "SessionStart", "SessionEnd", "SessionHeartbeat", "SubagentStart", "SubagentStop", "TaskStarted", "PreCompact", "PostCompact", "Notification"]
    command: str


class ConfigHooksItem(_ConfigHooksItem, total=False):
    matcher: str
    timeout: float


class _ConfigServicesSearchOauth(TypedDict):
    storage: Literal["file", "keyring"]
    key: str


class ConfigServicesSearchOauth(_ConfigServicesSearchOauth, total=False):
    oauthHost: str


class ConfigServicesSearch(TypedDict, total=False):
    baseUrl: str
    apiKey: str
    oauth: ConfigServicesSearchOauth
    customHeaders: Dict[str, str]


class _ConfigServicesFetchOauth(TypedDict):
    storage: Literal["file", "keyring"]
    key: str


class ConfigServicesFetchOauth(_ConfigServicesFetchOauth, total=False):
    oauthHost: str


class ConfigServicesFetch(TypedDict, total=False):
    baseUrl: str
    apiKey: str
    oauth: ConfigServicesFetchOauth
    customHeaders: Dict[str, str]


class ConfigServices(TypedDict, total=False):
    search: ConfigServicesSearch
    fetch: ConfigServicesFetch


class ConfigLoopControl(TypedDict, total=False):
    maxStepsPerTurn: int
    maxAttemptsPerStep: int
    maxRalphIterations: int
    reservedContextSize: int
    compactionTriggerRatio: float


class ConfigBackground(TypedDict, total=False):
    maxRunningTasks: int
    keepAliveOnExit: bool
    bashAutoBackgroundOnTimeout: bool
    bashTaskTimeoutS: int
    killGracePeriodMs: int
    printWaitCeilingS: int
    printMaxTurns: int
    printBackgroundMode: Literal["exit", "drain", "steer"]


class ConfigSubagent(TypedDict):
    timeoutMs: int


class ConfigSecondaryModel(TypedDict, total=False):
    defaultModel: str
    models: Dict[str, str]
    force: bool


class ConfigIdentity(TypedDict, total=False):
    name: str
    slug: str


class ConfigImage(TypedDict, total=False):
    maxEdgePx: int
    readByteBudget: int


class ConfigMcp(TypedDict, total=False):
    startupTimeoutMs: int
    toolTimeoutMs: int


class ConfigTools(TypedDict, total=False):
    enabled: List[str]
    disabled: List[str]


class ConfigTokenCounting(TypedDict):
    strategy: Literal["measured+estimated", "measured", "estimated"]


class ConfigModelCatalog(TypedDict, total=False):
    refreshIntervalMs: int
    refreshOnStart: bool


class ConfigCron(TypedDict, total=False):
    debug: bool
    noJitter: bool
    noStale: bool
    disabled: bool
    manualTick: bool
    clock: str
    pollIntervalMs: Union[int, None]


class _Config(TypedDict):
    providers: Dict[str, ConfigProvidersValue]
    models: Dict[str, ModelRecord]
    thinking: ConfigThinking
    default_plan_mode: bool
    services: ConfigServices
    merge_all_available_skills: bool
    extra_skill_dirs: List[str]
    loop_control: ConfigLoopControl
    background: ConfigBackground
    subagent: ConfigSubagent
    raw: Dict[str, Any]
    builtin_product_skills: bool
    extra_agent_dirs: List[str]
    identity: ConfigIdentity
    image: ConfigImage
    mcp: ConfigMcp
    token_counting: ConfigTokenCounting
    cron: ConfigCron


class Config(_Config, total=False):
    default_provider: str
    default_model: str
    default_permission_mode: Literal["manual", "yolo", "auto"]
    yolo: bool
    plan_mode: bool
    permission: ConfigPermission
    hooks: List[ConfigHooksItem]
    secondary_model: ConfigSecondaryModel
    experimental: Dict[str, bool]
    telemetry: bool
    auto_session_title: bool
    tools: ConfigTools
    model_catalog: ConfigModelCatalog


class ConfigPatch(TypedDict, total=False):
    providers: Dict[str, Any]
    models: Dict[str, Any]
    experimental: Union[Dict[str, Union[bool, None]], None]
    default_provider: Union[str, None]
    default_model: Union[str, None]
    default_permission_mode: Union[str, None]
    plan_mode: Union[bool, None]
    yolo: Union[bool, None]
    default_plan_mode: Union[bool, None]
    merge_all_available_skills: Union[bool, None]
    telemetry: Union[bool, None]
    auto_session_title: Union[bool, None]
    hooks: Union[List[Any], None]
    extra_skill_dirs: Union[List[str], None]
    thinking: Any
    permission: Any
    services: Any
    loop_control: Any
    background: Any
    subagent: Any
    secondary_model: Any


class Connection(TypedDict):
    id: str
    connected_at: str
    remote_address: Union[str, None]
    user_agent: Union[str, None]
    has_client_hello: bool
    subscriptions: List[str]


class ContentPartValue1(TypedDict):
    type: Literal["text"]
    text: str


class _ContentPartValue2Source1(TypedDict):
    kind: Literal["url"]
    url: str


class ContentPartValue2Source1(_ContentPartValue2Source1, total=False):
    id: str


class ContentPartValue2Source2(TypedDict):
    kind: Literal["base64"]
    media_type: str
    data: str


class ContentPartValue2Source3(TypedDict):
    kind: Literal["file"]
    file_id: str


class ContentPartValue2Source4(TypedDict):
    kind: Literal["session_media"]
    file_id: str


class ContentPartValue2(TypedDict):
    type: Literal["image"]
    source: Union[ContentPartValue2Source1, ContentPartValue2Source2, ContentPartValue2Source3, ContentPartValue2Source4]


class _ContentPartValue3Source1(TypedDict):
    kind: Literal["url"]
    url: str


class ContentPartValue3Source1(_ContentPartValue3Source1, total=False):
    id: str


class ContentPartValue3Source2(TypedDict):
    kind: Literal["base64"]
    media_type: str
    data: str


class ContentPartValue3Source3(TypedDict):
    kind: Literal["file"]
    file_id: str


class ContentPartValue3Source4(TypedDict):
    kind: Literal["session_media"]
    file_id: str


class ContentPartValue3(TypedDict):
    type: Literal["video"]
    source: Union[ContentPartValue3Source1, ContentPartValue3Source2, ContentPartValue3Source3, ContentPartValue3Source4]


class ContentPartValue4(TypedDict):
    type: Literal["file"]
    file_id: str
    name: str
    media_type: str
    size: int


class _ContentPartValue5(TypedDict):
    type: Literal["tool_use"]
    tool_call_id: str
    tool_name: str


class ContentPartValue5(_ContentPartValue5, total=False):
    input: Any


class _ContentPartValue6(TypedDict):
    type: Literal["tool_result"]
    tool_call_id: str


class ContentPartValue6(_ContentPartValue6, total=False):
    output: Any
    is_error: bool


class _ContentPartValue7(TypedDict):
    type: Literal["thinking"]
    thinking: str


class ContentPartValue7(_ContentPartValue7, total=False):
    signature: str


ContentPart = Union["Union[ContentPartValue1, ContentPartValue2, ContentPartValue3, ContentPartValue4, ContentPartValue5, ContentPartValue6, ContentPartValue7]"]


class ContentPartInputValue1(TypedDict):
    type: Literal["text"]
    text: str


class _ContentPartInputValue2Source1(TypedDict):
    kind: Literal["url"]
    url: str


class ContentPartInputValue2Source1(_ContentPartInputValue2Source1, total=False):
    id: str


class ContentPartInputValue2Source2(TypedDict):
    kind: Literal["base64"]
    media_type: str
    data: str


class ContentPartInputValue2Source3(TypedDict):
    kind: Literal["file"]
    file_id: str


class ContentPartInputValue2Source4(TypedDict):
    kind: Literal["session_media"]
    file_id: str


class ContentPartInputValue2(TypedDict):
    type: Literal["image"]
    source: Union[ContentPartInputValue2Source1, ContentPartInputValue2Source2, ContentPartInputValue2Source3, ContentPartInputValue2Source4]


class _ContentPartInputValue3Source1(TypedDict):
    kind: Literal["url"]
    url: str


class ContentPartInputValue3Source1(_ContentPartInputValue3Source1, total=False):
    id: str


class ContentPartInputValue3Source2(TypedDict):
    kind: Literal["base64"]
    media_type: str
    data: str


class ContentPartInputValue3Source3(TypedDict):
    kind: Literal["file"]
    file_id: str


class ContentPartInputValue3Source4(TypedDict):
    kind: Literal["session_media"]
    file_id: str


class ContentPartInputValue3(TypedDict):
    type: Literal["video"]
    source: Union[ContentPartInputValue3Source1, ContentPartInputValue3Source2, ContentPartInputValue3Source3, ContentPartInputValue3Source4]


class ContentPartInputValue4(TypedDict):
    type: Literal["file"]
    file_id: str
    name: str
    media_type: str
    size: int


class _ContentPartInputValue5(TypedDict):
    type: Literal["tool_use"]
    tool_call_id: str
    tool_name: str


class ContentPartInputValue5(_ContentPartInputValue5, total=False):
    input: Any


class _ContentPartInputValue6(TypedDict):
    type: Literal["tool_result"]
    tool_call_id: str


class ContentPartInputValue6(_ContentPartInputValue6, total=False):
    output: Any
    is_error: bool


class _ContentPartInputValue7(TypedDict):
    type: Literal["thinking"]
    thinking: str


class ContentPartInputValue7(_ContentPartInputValue7, total=False):
    signature: str


ContentPartInput = Union["Union[ContentPartInputValue1, ContentPartInputValue2, ContentPartInputValue3, ContentPartInputValue4, ContentPartInputValue5, ContentPartInputValue6, ContentPartInputValue7]"]


class Error40001DetailsItem(TypedDict):
    path: str
    message: str


class _Error40001(TypedDict):
    code: Literal[40001]
    msg: str
    data: None
    request_id: str


class Error40001(_Error40001, total=False):
    details: List[Error40001DetailsItem]


class Error40003(TypedDict):
    code: Literal[40003]
    msg: str
    data: None
    request_id: str


class Error40004(TypedDict):
    code: Literal[40004]
    msg: str
    data: None
    request_id: str


class Error40005(TypedDict):
    code: Literal[40005]
    msg: str
    data: None
    request_id: str


class Error40110(TypedDict):
    code: Literal[40110]
    msg: str
    data: None
    request_id: str


class _Error40111(TypedDict):
    code: Literal[40111]
    msg: str
    data: None
    request_id: str


class Error40111(_Error40111, total=False):
    details: Dict[str, Any]


class _Error40112(TypedDict):
    code: Literal[40112]
    msg: str
    data: None
    request_id: str


class Error40112(_Error40112, total=False):
    details: Dict[str, Any]


class _Error40113(TypedDict):
    code: Literal[40113]
    msg: str
    data: None
    request_id: str


class Error40113(_Error40113, total=False):
    details: Dict[str, Any]


class Error40401(TypedDict):
    code: Literal[40401]
    msg: str
    data: None
    request_id: str


class Error40402(TypedDict):
    code: Literal[40402]
    msg: str
    data: None
    request_id: str


class Error40403(TypedDict):
    code: Literal[40403]
    msg: str
    data: None
    request_id: str


class Error40404(TypedDict):
    code: Literal[40404]
    msg: str
    data: None
    request_id: str


class Error40405(TypedDict):
    code: Literal[40405]
    msg: str
    data: None
    request_id: str


class Error40406(TypedDict):
    code: Literal[40406]
    msg: str
    data: None
    request_id: str


class Error40407(TypedDict):
    code: Literal[40407]
    msg: str
    data: None
    request_id: str


class Error40408(TypedDict):
    code: Literal[40408]
    msg: str
    data: None
    request_id: str


class Error40409(TypedDict):
    code: Literal[40409]
    msg: str
    data: None
    request_id: str


class Error40410(TypedDict):
    code: Literal[40410]
    msg: str
    data: None
    request_id: str


class Error40411(TypedDict):
    code: Literal[40411]
    msg: str
    data: None
    request_id: str


class Error40412(TypedDict):
    code: Literal[40412]
    msg: str
    data: None
    request_id: str


class Error40413(TypedDict):
    code: Literal[40413]
    msg: str
    data: None
    request_id: str


class Error40414(TypedDict):
    code: Literal[40414]
    msg: str
    data: None
    request_id: str


class Error40415(TypedDict):
    code: Literal[40415]
    msg: str
    data: None
    request_id: str


class Error40416(TypedDict):
    code: Literal[40416]
    msg: str
    data: None
    request_id: str


class Error40417(TypedDict):
    code: Literal[40417]
    msg: str
    data: None
    request_id: str


class Error40418(TypedDict):
    code: Literal[40418]
    msg: str
    data: None
    request_id: str


class Error40419(TypedDict):
    code: Literal[40419]
    msg: str
    data: None
    request_id: str


class Error40420(TypedDict):
    code: Literal[40420]
    msg: str
    data: None
    request_id: str


class Error40901(TypedDict):
    code: Literal[40901]
    msg: str
    data: None
    request_id: str


class Error40906(TypedDict):
    code: Literal[40906]
    msg: str
    data: None
    request_id: str


class Error40907(TypedDict):
    code: Literal[40907]
    msg: str
    data: None
    request_id: str


class Error40908(TypedDict):
    code: Literal[40908]
    msg: str
    data: None
    request_id: str


class Error40910(TypedDict):
    code: Literal[40910]
    msg: str
    data: None
    request_id: str


class Error40912(TypedDict):
    code: Literal[40912]
    msg: str
    data: None
    request_id: str


class Error40913(TypedDict):
    code: Literal[40913]
    msg: str
    data: None
    request_id: str


class Error40914(TypedDict):
    code: Literal[40914]
    msg: str
    data: None
    request_id: str


class Error40915(TypedDict):
    code: Literal[40915]
    msg: str
    data: None
    request_id: str


class Error40917(TypedDict):
    code: Literal[40917]
    msg: str
    data: None
    request_id: str


class Error40918(TypedDict):
    code: Literal[40918]
    msg: str
    data: None
    request_id: str


class Error40919(TypedDict):
    code: Literal[40919]
    msg: str
    data: None
    request_id: str


class Error40921(TypedDict):
    code: Literal[40921]
    msg: str
    data: None
    request_id: str


class Error40922(TypedDict):
    code: Literal[40922]
    msg: str
    data: None
    request_id: str


class Error40923(TypedDict):
    code: Literal[40923]
    msg: str
    data: None
    request_id: str


class Error40924(TypedDict):
    code: Literal[40924]
    msg: str
    data: None
    request_id: str


class Error40925(TypedDict):
    code: Literal[40925]
    msg: str
    data: None
    request_id: str


class Error40926(TypedDict):
    code: Literal[40926]
    msg: str
    data: None
    request_id: str


class Error40927(TypedDict):
    code: Literal[40927]
    msg: str
    data: None
    request_id: str


class _Error40928(TypedDict):
    code: Literal[40928]
    msg: str
    data: None
    request_id: str


class Error40928(_Error40928, total=False):
    details: Dict[str, Any]


class Error40929(TypedDict):
    code: Literal[40929]
    msg: str
    data: None
    request_id: str


class Error41001(TypedDict):
    code: Literal[41001]
    msg: str
    data: None
    request_id: str


class Error41002(TypedDict):
    code: Literal[41002]
    msg: str
    data: None
    request_id: str


class Error41301(TypedDict):
    code: Literal[41301]
    msg: str
    data: None
    request_id: str


class Error41302(TypedDict):
    code: Literal[41302]
    msg: str
    data: None
    request_id: str


class Error41304(TypedDict):
    code: Literal[41304]
    msg: str
    data: None
    request_id: str


class Error41305(TypedDict):
    code: Literal[41305]
    msg: str
    data: None
    request_id: str


class Error50001(TypedDict):
    code: Literal[50001]
    msg: str
    data: None
    request_id: str


class Error50003(TypedDict):
    code: Literal[50003]
    msg: str
    data: None
    request_id: str


class Error50004(TypedDict):
    code: Literal[50004]
    msg: str
    data: None
    request_id: str


class _File(TypedDict):
    id: str
    name: str
    media_type: str
    size: int
    created_at: str


class File(_File, total=False):
    expires_at: str


class _FileContent(TypedDict):
    path: str
    content: str
    encoding: Literal["utf-8", "base64"]
    size: int
    truncated: bool
    etag: str
    mime: str
    is_binary: bool


class FileContent(_FileContent, total=False):
    language_id: str
    line_count: int


class _FileEntry(TypedDict):
    path: str
    name: str
    kind: Literal["file", "directory", "symlink"]
    modified_at: str
    etag: str


class FileEntry(_FileEntry, total=False):
    size: int
    mime: str
    language_id: str
    is_symlink_to: str
    git_status: Literal["clean", "modified", "added", "deleted", "renamed", "untracked", "ignored", "conflicted"]


class FileHit(TypedDict):
    path: str
    name: str
    kind: Literal["file", "directory", "symlink"]
    score: float
    match_positions: List[int]


class FileHits(TypedDict):
    items: List[FileHit]
    truncated: bool


class _FileList(TypedDict):
    items: List[FileEntry]
    truncated: bool


class FileList(_FileList, total=False):
    children_by_path: Dict[str, List[FileEntry]]


class FileListsPartialErrorsValue(TypedDict):
    code: int
    msg: str


class FileLists(TypedDict):
    results: Dict[str, List[FileEntry]]
    truncated_paths: List[str]
    partial_errors: Dict[str, FileListsPartialErrorsValue]


class GitDiff(TypedDict):
    path: str
    diff: str
    truncated: bool


class GitStatusReply(TypedDict):
    branch: str
    ahead: int
    behind: int
    entries: Dict[str, Literal["modified", "added", "deleted", "renamed", "untracked", "ignored", "conflicted"]]
    additions: int
    deletions: int
    pullRequest: Union[PullRequest, None]


class GoalBudget(TypedDict):
    tokenBudget: Union[float, None]
    turnBudget: Union[float, None]
    wallClockBudgetMs: Union[float, None]
    remainingTokens: Union[float, None]
    remainingTurns: Union[float, None]
    remainingWallClockMs: Union[float, None]
    tokenBudgetReached: bool
    turnBudgetReached: bool
    wallClockBudgetReached: bool
    overBudget: bool


class _Goal(TypedDict):
    goalId: str
    objective: str
    status: Literal["active", "paused", "blocked", "complete"]
    turnsUsed: int
    tokensUsed: int
    wallClockMs: float
    budget: GoalBudget


class Goal(_Goal, total=False):
    completionCriterion: str
    terminalReason: str


class GrepFile(TypedDict):
    path: str
    matches: List[GrepMatch]


class GrepMatch(TypedDict):
    line: int
    col: int
    text: str
    before: List[str]
    after: List[str]


class GrepReply(TypedDict):
    files: List[GrepFile]
    files_scanned: int
    truncated: bool
    elapsed_ms: int


class HostDirectoryEntriesItem(TypedDict):
    name: str
    path: str
    is_dir: Literal[True]


class HostDirectory(TypedDict):
    path: str
    parent: Union[str, None]
    entries: List[HostDirectoryEntriesItem]


class _InFlightTurnRunningToolsItemDisplay1(TypedDict):
    kind: Literal["command"]
    command: str


class InFlightTurnRunningToolsItemDisplay1(_InFlightTurnRunningToolsItemDisplay1, total=False):
    cwd: str
    description: str
    language: Literal["bash"]


class _InFlightTurnRunningToolsItemDisplay2(TypedDict):
    kind: Literal["file_io"]
    operation: Literal["read", "write", "edit", "glob", "grep"]
    path: str


class InFlightTurnRunningToolsItemDisplay2(_InFlightTurnRunningToolsItemDisplay2, total=False):
    detail: str
    content: str
    before: str
    after: str


class _InFlightTurnRunningToolsItemDisplay3(TypedDict):
    kind: Literal["diff"]
    path: str
    before: str
    after: str


class InFlightTurnRunningToolsItemDisplay3(_InFlightTurnRunningToolsItemDisplay3, total=False):
    hunks: float


class _InFlightTurnRunningToolsItemDisplay4(TypedDict):
    kind: Literal["search"]
    query: str


class InFlightTurnRunningToolsItemDisplay4(_InFlightTurnRunningToolsItemDisplay4, total=False):
    scope: str


class _InFlightTurnRunningToolsItemDisplay5(TypedDict):
    kind: Literal["url_fetch"]
    url: str


class InFlightTurnRunningToolsItemDisplay5(_InFlightTurnRunningToolsItemDisplay5, total=False):
    method: str


class _InFlightTurnRunningToolsItemDisplay6(TypedDict):
    kind: Literal["agent_call"]
    agent_name: str
    prompt: str


class InFlightTurnRunningToolsItemDisplay6(_InFlightTurnRunningToolsItemDisplay6, total=False):
    background: bool


class _InFlightTurnRunningToolsItemDisplay7(TypedDict):
    kind: Literal["skill_call"]
    skill_name: str


class InFlightTurnRunningToolsItemDisplay7(_InFlightTurnRunningToolsItemDisplay7, total=False):
    args: str


class InFlightTurnRunningToolsItemDisplay8ItemsItem(TypedDict):
    title: str
    status: str


class InFlightTurnRunningToolsItemDisplay8(TypedDict):
    kind: Literal["todo_list"]
    items: List[InFlightTurnRunningToolsItemDisplay8ItemsItem]


class _InFlightTurnRunningToolsItemDisplay9(TypedDict):
    kind: Literal["task"]
    task_id: str
    status: str
    description: str


class InFlightTurnRunningToolsItemDisplay9(_InFlightTurnRunningToolsItemDisplay9, total=False):
    task_kind: str


class InFlightTurnRunningToolsItemDisplay10(TypedDict):
    kind: Literal["task_stop"]
    task_id: str
    task_description: str


class _InFlightTurnRunningToolsItemDisplay11OptionsItem(TypedDict):
    label: str


class InFlightTurnRunningToolsItemDisplay11OptionsItem(_InFlightTurnRunningToolsItemDisplay11OptionsItem, total=False):
    description: str


class _InFlightTurnRunningToolsItemDisplay11(TypedDict):
    kind: Literal["plan_review"]
    plan: str


class InFlightTurnRunningToolsItemDisplay11(_InFlightTurnRunningToolsItemDisplay11, total=False):
    path: str
    options: List[InFlightTurnRunningToolsItemDisplay11OptionsItem]


class _InFlightTurnRunningToolsItemDisplay12(TypedDict):
    kind: Literal["goal_start"]
    objective: str
    mode: Literal["manual", "yolo"]


class InFlightTurnRunningToolsItemDisplay12(_InFlightTurnRunningToolsItemDisplay12, total=False):
    completionCriterion: str


class _InFlightTurnRunningToolsItemDisplay13(TypedDict):
    kind: Literal["generic"]
    summary: str


class InFlightTurnRunningToolsItemDisplay13(_InFlightTurnRunningToolsItemDisplay13, total=False):
    detail: Any


class _InFlightTurnRunningToolsItemLastProgress(TypedDict):
    kind: Literal["stdout", "stderr", "progress", "status"]


class InFlightTurnRunningToolsItemLastProgress(_InFlightTurnRunningToolsItemLastProgress, total=False):
    text: str
    percent: float


class _InFlightTurnRunningToolsItem(TypedDict):
    tool_call_id: str
    name: str


class InFlightTurnRunningToolsItem(_InFlightTurnRunningToolsItem, total=False):
    args: Any
    description: str
    display: Union[InFlightTurnRunningToolsItemDisplay1, InFlightTurnRunningToolsItemDisplay2, InFlightTurnRunningToolsItemDisplay3, InFlightTurnRunningToolsItemDisplay4, InFlightTurnRunningToolsItemDisplay5, InFlightTurnRunningToolsItemDisplay6, InFlightTurnRunningToolsItemDisplay7, InFlightTurnRunningToolsItemDisplay8, InFlightTurnRunningToolsItemDisplay9, InFlightTurnRunningToolsItemDisplay10, InFlightTurnRunningToolsItemDisplay11, InFlightTurnRunningToolsItemDisplay12, InFlightTurnRunningToolsItemDisplay13]
    last_progress: InFlightTurnRunningToolsItemLastProgress


class _InFlightTurn(TypedDict):
    turn_id: int
    assistant_text: str
    assistant_offset: int
    thinking_text: str
    thinking_offset: int
    running_tools: List[InFlightTurnRunningToolsItem]


class InFlightTurn(_InFlightTurn, total=False):
    current_prompt_id: str


class ListedSessionWorkspace(TypedDict):
    id: str
    cwd: Union[str, None]


class ListedSessionMeta(TypedDict):
    title: Union[str, None]
    last_prompt: Union[str, None]
    created_at: int
    updated_at: int
    archived: bool
    archived_at: Union[int, None]


class ListedSessionActivity(TypedDict):
    status: Literal["running", "approval", "question", "failed", "idle"]
    model: Union[str, None]


class ListedSessionGitPullRequest1(TypedDict):
    number: int
    state: Literal["open", "closed", "merged"]
    url: str


class ListedSessionGit(TypedDict):
    branch: Union[str, None]
    pull_request: Union[ListedSessionGitPullRequest1, None]


class _ListedSession(TypedDict):
    id: str
    workspace: ListedSessionWorkspace
    meta: ListedSessionMeta
    activity: ListedSessionActivity


class ListedSession(_ListedSession, total=False):
    git: ListedSessionGit


class _LoginFlow(TypedDict):
    flow_id: str
    provider: str
    status: Literal["pending", "authenticated", "denied", "expired", "cancelled"]
    verification_uri: str
    verification_uri_complete: str
    user_code: str
    expires_in: float
    interval: float
    expires_at: str


class LoginFlow(_LoginFlow, total=False):
    resolved_at: str
    error_message: str


class _MarketplaceEntryInstalled(TypedDict):
    enabled: bool


class MarketplaceEntryInstalled(_MarketplaceEntryInstalled, total=False):
    version: str


class _MarketplaceEntry(TypedDict):
    id: str
    tier: Literal["official", "curated", "third-party"]
    displayName: str
    source: str


class MarketplaceEntry(_MarketplaceEntry, total=False):
    description: str
    homepage: str
    keywords: List[str]
    version: str
    installed: MarketplaceEntryInstalled
    updateAvailable: Literal[True]
    capabilityId: str


class _McpServer(TypedDict):
    id: str
    name: str
    transport: Literal["stdio", "http", "sse"]
    status: Literal["connected", "connecting", "disconnected", "error"]
    tool_count: int


class McpServer(_McpServer, total=False):
    last_error: str


class _MessageMetadataOrigin1SkillActivationsItem(TypedDict):
    activationId: str
    skillName: str


class MessageMetadataOrigin1SkillActivationsItem(_MessageMetadataOrigin1SkillActivationsItem, total=False):
    skillArgs: str
    skillType: str
    skillPath: str
    skillSource: str


class _MessageMetadataOrigin1(TypedDict):
    kind: Literal["user"]


class MessageMetadataOrigin1(_MessageMetadataOrigin1, total=False):
    skillActivations: List[MessageMetadataOrigin1SkillActivationsItem]


class _MessageMetadataOrigin2(TypedDict):
    activationId: str
    skillName: str
    kind: Literal["skill_activation"]
    trigger: Literal["user-slash", "model-tool", "nested-skill"]


class MessageMetadataOrigin2(_MessageMetadataOrigin2, total=False):
    skillArgs: str
    skillType: str
    skillPath: str
    skillSource: str


class _MessageMetadataOrigin3(TypedDict):
    kind: Literal["plugin_command"]
    activationId: str
    pluginId: str
    commandName: str
    trigger: Literal["user-slash"]


class MessageMetadataOrigin3(_MessageMetadataOrigin3, total=False):
    commandArgs: str


class _MessageMetadataOrigin4(TypedDict):
    kind: Literal["injection"]
    variant: str


class MessageMetadataOrigin4(_MessageMetadataOrigin4, total=False):
    ownerPromptId: str
    disclosure: Any


class _MessageMetadataOrigin5(TypedDict):
    kind: Literal["shell_command"]
    phase: Literal["input", "output"]


class MessageMetadataOrigin5(_MessageMetadataOrigin5, total=False):
    isError: bool


class MessageMetadataOrigin6(TypedDict):
    kind: Literal["compaction_summary"]


class MessageMetadataOrigin7(TypedDict):
    kind: Literal["system_trigger"]
    name: str


class MessageMetadataOrigin8(TypedDict):
    kind: Literal["task"]
    taskId: str
    status: str
    notificationId: str


class MessageMetadataOrigin9(TypedDict):
    kind: Literal["cron_job"]
    jobId: str
    cron: str
    recurring: bool
    coalescedCount: int
    stale: bool


class MessageMetadataOrigin10(TypedDict):
    kind: Literal["cron_missed"]
    count: int


class _MessageMetadataOrigin11(TypedDict):
    kind: Literal["hook_result"]
    event: str


class MessageMetadataOrigin11(_MessageMetadataOrigin11, total=False):
    blocked: bool
    ownerPromptId: str


class _MessageMetadataOrigin12(TypedDict):
    kind: Literal["retry"]


class MessageMetadataOrigin12(_MessageMetadataOrigin12, total=False):
    trigger: str


class MessageMetadata(TypedDict):
    origin: Union[MessageMetadataOrigin1, MessageMetadataOrigin2, MessageMetadataOrigin3, MessageMetadataOrigin4, MessageMetadataOrigin5, MessageMetadataOrigin6, MessageMetadataOrigin7, MessageMetadataOrigin8, MessageMetadataOrigin9, MessageMetadataOrigin10, MessageMetadataOrigin11, MessageMetadataOrigin12]


class _Message(TypedDict):
    id: str
    session_id: str
    role: Literal["user", "assistant", "tool", "system"]
    content: List[ContentPart]
    created_at: str


class Message(_Message, total=False):
    prompt_id: str
    parent_message_id: str
    metadata: MessageMetadata


class MetaCapabilities(TypedDict):
    websocket: Literal[True]
    file_upload: Literal[True]
    fs_query: Literal[True]
    mcp: Literal[True]
    tasks: Literal[True]
    terminal: Literal[True]


class MetaFeaturesItem(TypedDict):
    name: str
    state: Literal["Pending", "Activating", "Active", "Unloading", "Failed"]
    meta: Dict[str, Any]


class _Meta(TypedDict):
    server_version: str
    capabilities: MetaCapabilities
    server_id: str
    started_at: str
    open_in_apps: List[Literal["finder", "cursor", "vscode", "iterm", "terminal"]]
    dangerous_bypass_auth: bool
    backend: Literal["v1", "v2"]
    experimental_flags: Dict[str, bool]
    features: List[MetaFeaturesItem]


class Meta(_Meta, total=False):
    web_title: str


class _ModelItemUpgrade(TypedDict):
    model: str
    migration_markdown: str


class ModelItemUpgrade(_ModelItemUpgrade, total=False):
    retirement_at: str


class _ModelItem(TypedDict):
    provider: str
    model: str
    display_name: str
    max_context_size: int


class ModelItem(_ModelItem, total=False):
    capabilities: List[str]
    support_efforts: List[str]
    default_effort: str
    upgrade: ModelItemUpgrade


class _ModelRecordCost(TypedDict):
    input: float
    output: float


class ModelRecordCost(_ModelRecordCost, total=False):
    cacheRead: float
    cacheWrite: float


class _ModelRecordOauth(TypedDict):
    storage: Literal["file", "keyring"]
    key: str


class ModelRecordOauth(_ModelRecordOauth, total=False):
    oauthHost: str


class _ModelRecordOverridesCost(TypedDict):
    input: float
    output: float


class ModelRecordOverridesCost(_ModelRecordOverridesCost, total=False):
    cacheRead: float
    cacheWrite: float


class ModelRecordOverrides(TypedDict, total=False):
    maxContextSize: int
    maxInputSize: int
    maxOutputSize: int
    capabilities: List[str]
    displayName: str
    reasoningKey: str
    adaptiveThinking: bool
    supportEfforts: List[str]
    defaultEffort: str
    offEffort: str
    cost: ModelRecordOverridesCost


class ModelRecord(TypedDict, total=False):
    provider: str
    providerId: str
    model: str
    name: str
    maxContextSize: int
    maxInputSize: int
    maxOutputSize: int
    capabilities: List[str]
    displayName: str
    reasoningKey: str
    adaptiveThinking: bool
    supportEfforts: List[str]
    defaultEffort: str
    offEffort: str
    cost: ModelRecordCost
    aliases: List[str]
    baseUrl: str
    apiKey: str
    oauth: ModelRecordOauth
    protocol: Literal["openai", "openai_responses", "anthropic", "google-genai"]
    betaApi: bool
    upgrade: Any
    overrides: ModelRecordOverrides


class _OriginValue1SkillActivationsItem(TypedDict):
    activationId: str
    skillName: str


class OriginValue1SkillActivationsItem(_OriginValue1SkillActivationsItem, total=False):
    skillArgs: str
    skillType: str
    skillPath: str
    skillSource: str


class _OriginValue1(TypedDict):
    kind: Literal["user"]


class OriginValue1(_OriginValue1, total=False):
    skillActivations: List[OriginValue1SkillActivationsItem]


class _OriginValue2(TypedDict):
    activationId: str
    skillName: str
    kind: Literal["skill_activation"]
    trigger: Literal["user-slash", "model-tool", "nested-skill"]


class OriginValue2(_OriginValue2, total=False):
    skillArgs: str
    skillType: str
    skillPath: str
    skillSource: str


class _OriginValue3(TypedDict):
    kind: Literal["plugin_command"]
    activationId: str
    pluginId: str
    commandName: str
    trigger: Literal["user-slash"]


class OriginValue3(_OriginValue3, total=False):
    commandArgs: str


class _OriginValue4(TypedDict):
    kind: Literal["injection"]
    variant: str


class OriginValue4(_OriginValue4, total=False):
    ownerPromptId: str
    disclosure: Any


class _OriginValue5(TypedDict):
    kind: Literal["shell_command"]
    phase: Literal["input", "output"]


class OriginValue5(_OriginValue5, total=False):
    isError: bool


class OriginValue6(TypedDict):
    kind: Literal["compaction_summary"]


class OriginValue7(TypedDict):
    kind: Literal["system_trigger"]
    name: str


class OriginValue8(TypedDict):
    kind: Literal["task"]
    taskId: str
    status: str
    notificationId: str


class OriginValue9(TypedDict):
    kind: Literal["cron_job"]
    jobId: str
    cron: str
    recurring: bool
    coalescedCount: int
    stale: bool


class OriginValue10(TypedDict):
    kind: Literal["cron_missed"]
    count: int


class _OriginValue11(TypedDict):
    kind: Literal["hook_result"]
    event: str


class OriginValue11(_OriginValue11, total=False):
    blocked: bool
    ownerPromptId: str


class _OriginValue12(TypedDict):
    kind: Literal["retry"]


class OriginValue12(_OriginValue12, total=False):
    trigger: str


Origin = Union["Union[OriginValue1, OriginValue2, OriginValue3, OriginValue4, OriginValue5, OriginValue6, OriginValue7, OriginValue8, OriginValue9, OriginValue10, OriginValue11, OriginValue12]"]


class PluginGithubRef(TypedDict):
    kind: Literal["branch", "tag", "sha"]
    value: str


class _PluginGithub(TypedDict):
    owner: str
    repo: str
    ref: PluginGithubRef


class PluginGithub(_PluginGithub, total=False):
    installedSha: str


class _Plugin(TypedDict):
    id: str
    displayName: str
    enabled: bool
    state: Literal["ok", "error"]
    skillCount: int
    mcpServerCount: int
    enabledMcpServerCount: int
    hookCount: int
    commandCount: int
    hasErrors: bool
    source: Literal["local-path", "zip-url", "github"]


class Plugin(_Plugin, total=False):
    version: str
    originalSource: str
    github: PluginGithub


class Prompt(TypedDict):
    prompt_id: str
    user_message_id: str
    status: Literal["running", "queued", "blocked"]
    content: List[ContentPart]
    created_at: str


class _ProviderDetail(TypedDict):
    id: str
    type: str
    has_api_key: bool
    status: Literal["connected", "unconfigured", "error"]
    models: List[str]


class ProviderDetail(_ProviderDetail, total=False):
    base_url: str
    default_model: str
    api_key: str


class _ProviderItem(TypedDict):
    id: str
    type: str
    has_api_key: bool
    status: Literal["connected", "unconfigured", "error"]
    models: List[str]


class ProviderItem(_ProviderItem, total=False):
    base_url: str
    default_model: str


class PullRequest(TypedDict):
    number: int
    state: Literal["open", "merged", "closed", "draft"]
    url: str


class _QuestionRequestQuestionsItemOptionsItem(TypedDict):
    id: str
    label: str


class QuestionRequestQuestionsItemOptionsItem(_QuestionRequestQuestionsItemOptionsItem, total=False):
    description: str


class _QuestionRequestQuestionsItem(TypedDict):
    id: str
    question: str
    options: List[QuestionRequestQuestionsItemOptionsItem]


class QuestionRequestQuestionsItem(_QuestionRequestQuestionsItem, total=False):
    header: str
    body: str
    multi_select: bool
    allow_other: bool
    other_label: str
    other_description: str


class _QuestionRequest(TypedDict):
    question_id: str
    session_id: str
    questions: List[QuestionRequestQuestionsItem]
    created_at: str


class QuestionRequest(_QuestionRequest, total=False):
    agent_id: str
    turn_id: int
    tool_call_id: str


class _QuotaUsagesLimit5h(TypedDict):
    usedRatio: float


class QuotaUsagesLimit5h(_QuotaUsagesLimit5h, total=False):
    resetAt: str


class _QuotaUsagesLimit7d(TypedDict):
    usedRatio: float


class QuotaUsagesLimit7d(_QuotaUsagesLimit7d, total=False):
    resetAt: str


class _QuotaUsagesMonthTotal(TypedDict):
    usedRatio: float


class QuotaUsagesMonthTotal(_QuotaUsagesMonthTotal, total=False):
    resetAt: str


class _QuotaUsagesMonthCode(TypedDict):
    usedRatio: float


class QuotaUsagesMonthCode(_QuotaUsagesMonthCode, total=False):
    resetAt: str


class QuotaUsages(TypedDict, total=False):
    limit5h: QuotaUsagesLimit5h
    limit7d: QuotaUsagesLimit7d
    monthTotal: QuotaUsagesMonthTotal
    monthCode: QuotaUsagesMonthCode


class QuotaExtraUsage1(TypedDict):
    balanceCents: int
    totalCents: int
    monthlyChargeLimitEnabled: bool
    monthlyChargeLimitCents: int
    monthlyUsedCents: int
    currency: str


class Quota(TypedDict):
    usages: QuotaUsages
    extraUsage: Union[QuotaExtraUsage1, None]


class RefreshReportChangedItem(TypedDict):
    provider_id: str
    provider_name: str
    added: int
    removed: int


class RefreshReportFailedItem(TypedDict):
    provider: str
    reason: str


RefreshReportRetiredDefault = TypedDict("RefreshReportRetiredDefault", {
    "from": "str",
    "to": "str",
    "from_display_name": "str",
}, total=False)


class _RefreshReport(TypedDict):
    changed: List[RefreshReportChangedItem]
    unchanged: List[str]
    failed: List[RefreshReportFailedItem]


class RefreshReport(_RefreshReport, total=False):
    retired_default: RefreshReportRetiredDefault


class RemoteConflict(TypedDict):
    pid: int
    local_origin: str
    device_id: str
    url: str
    started_at: str


class RemoteDevice(TypedDict):
    device_id: str
    alias: str
    status: Literal["online", "offline"]
    platform: str
    client_version: str
    local_base_url: str
    created_at: str
    updated_at: str
    last_remote_access_at: Union[str, None]


class _RemoteStatus(TypedDict):
    enabled: bool
    state: Literal["off", "starting", "on", "stopping"]
    device_id: str
    device_name: str


class RemoteStatus(_RemoteStatus, total=False):
    url: str
    error: str
    conflict: RemoteConflict


class _SearchHit(TypedDict):
    session_id: str
    workspace_id: str
    session_title: str
    agent_id: str
    role: Literal["user", "assistant", "title"]
    snippet: str
    time: int
    score: float


class SearchHit(_SearchHit, total=False):
    turn: int
    step_id: str


class SessionMetadata(TypedDict):
    cwd: str


class SessionAgentConfig(TypedDict):
    model: str


class _SessionPermissionRulesItemMatcher(TypedDict):
    kind: Literal["command_prefix", "path_glob", "exact_input", "always"]


class SessionPermissionRulesItemMatcher(_SessionPermissionRulesItemMatcher, total=False):
    value: Any


class _SessionPermissionRulesItem(TypedDict):
    id: str
    tool_name: str
    decision: Literal["approved"]
    created_at: str
    created_by: Literal["user", "agent"]


class SessionPermissionRulesItem(_SessionPermissionRulesItem, total=False):
    matcher: SessionPermissionRulesItemMatcher


class _Session(TypedDict):
    id: str
    workspace_id: str
    title: str
    created_at: str
    updated_at: str
    archived: bool
    busy: bool
    main_turn_active: bool
    pending_interaction: Literal["none", "approval", "question"]
    metadata: SessionMetadata
    agent_config: SessionAgentConfig
    usage: SessionUsage
    permission_rules: List[SessionPermissionRulesItem]
    message_count: int
    last_seq: int


class Session(_Session, total=False):
    archived_at: str
    last_turn_reason: Literal["completed", "cancelled", "failed"]
    last_prompt: str


class SessionSnapshotMessages(TypedDict):
    items: List[Message]
    has_more: bool


class SessionSnapshot(TypedDict):
    as_of_seq: int
    epoch: str
    session: Session
    messages: SessionSnapshotMessages
    in_flight_turn: Union[InFlightTurn, None]
    subagents: List[SnapshotSubagent]
    pending_approvals: List[ApprovalRequest]
    pending_questions: List[QuestionRequest]


class _SessionStatus(TypedDict):
    busy: bool
    thinking_level: str
    permission: Literal["manual", "yolo", "auto"]
    plan_mode: bool
    swarm_mode: bool
    context_tokens: int


class SessionStatus(_SessionStatus, total=False):
    model: str
    max_context_tokens: int
    context_usage: float


class _SessionUsage(TypedDict):
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_creation_tokens: int
    context_tokens: int


class SessionUsage(_SessionUsage, total=False):
    total_cost_usd: float
    context_limit: int
    turn_count: int


class _SkillDescriptor(TypedDict):
    name: str
    description: str
    path: str
    source: Literal["project", "user", "extra", "builtin"]


class SkillDescriptor(_SkillDescriptor, total=False):
    type: str
    disable_model_invocation: bool


class _SnapshotSubagent(TypedDict):
    id: str
    session_id: str
    kind: Literal["subagent"]
    description: str
    status: Literal["running", "completed", "failed"]
    created_at: str
    agent_id: str
    subagent_phase: Literal["queued", "working", "suspended", "completed", "failed"]


class SnapshotSubagent(_SnapshotSubagent, total=False):
    started_at: str
    completed_at: str
    subagent_type: str
    parent_tool_call_id: str
    model: str
    thinking_effort: str
    output_preview: str
    suspended_reason: str
    swarm_index: int
    run_in_background: bool


class StartedLoginValue1(TypedDict):
    flow_id: str
    provider: str
    status: Literal["pending"]
    verification_uri: str
    verification_uri_complete: str
    user_code: str
    expires_in: float
    interval: float
    expires_at: str


class StartedLoginValue2(TypedDict):
    flow_id: str
    provider: str
    status: Literal["authenticated"]


StartedLogin = Union["Union[StartedLoginValue1, StartedLoginValue2]"]


class _Task(TypedDict):
    id: str
    session_id: str
    kind: Literal["bash", "subagent", "tool"]
    description: str
    status: Literal["running", "completed", "failed", "cancelled"]
    created_at: str
    started_at: str


class Task(_Task, total=False):
    completed_at: str
    command: str
    parent_tool_call_id: str
    model: str
    thinking_effort: str
    agent_id: str
    subagent_type: str
    output_preview: str
    output_bytes: int


class _ToolDescriptor(TypedDict):
    name: str
    description: str
    input_schema: None
    source: Literal["builtin", "skill", "mcp"]


class ToolDescriptor(_ToolDescriptor, total=False):
    mcp_server_id: str
    active: bool


class _TranscriptAgent(TypedDict):
    agentId: str


class TranscriptAgent(_TranscriptAgent, total=False):
    type: Literal["main", "sub", "independent"]
    parentAgentId: str
    label: str
    createdAt: str
    disposedAt: str


class TranscriptAgentFactsUsageByModelValue(TypedDict):
    inputOther: float
    output: float
    inputCacheRead: float
    inputCacheCreation: float


class TranscriptAgentFactsUsageTotal(TypedDict):
    inputOther: float
    output: float
    inputCacheRead: float
    inputCacheCreation: float


class TranscriptAgentFactsUsageCurrentTurn(TypedDict):
    inputOther: float
    output: float
    inputCacheRead: float
    inputCacheCreation: float


class TranscriptAgentFactsUsage(TypedDict, total=False):
    byModel: Dict[str, TranscriptAgentFactsUsageByModelValue]
    total: TranscriptAgentFactsUsageTotal
    currentTurn: TranscriptAgentFactsUsageCurrentTurn


class TranscriptAgentFactsPhase1(TypedDict):
    kind: Literal["idle"]


class TranscriptAgentFactsPhase2(TypedDict):
    kind: Literal["running"]
    turnId: int
    step: int
    stepId: Literal[""]
    since: int


class TranscriptAgentFactsPhase3(TypedDict):
    kind: Literal["streaming"]
    turnId: int
    step: int
    stepId: Literal[""]
    stream: Literal["assistant", "thinking", "tool_call"]
    since: int


class TranscriptAgentFactsPhase4(TypedDict):
    kind: Literal["tool_call"]
    turnId: int
    step: int
    toolCallId: str
    name: str
    since: int


class _TranscriptAgentFactsPhase5(TypedDict):
    kind: Literal["retrying"]
    turnId: int
    step: int
    stepId: Literal[""]
    failedAttempt: int
    nextAttempt: int
    maxAttempts: int
    delayMs: float
    since: int


class TranscriptAgentFactsPhase5(_TranscriptAgentFactsPhase5, total=False):
    errorName: str
    statusCode: int


class TranscriptAgentFactsPhase6Approval(TypedDict):
    approvalId: str
    toolCallId: str


class _TranscriptAgentFactsPhase6(TypedDict):
    kind: Literal["awaiting_approval"]
    turnId: int
    approval: TranscriptAgentFactsPhase6Approval
    since: int


class TranscriptAgentFactsPhase6(_TranscriptAgentFactsPhase6, total=False):
    step: int


class _TranscriptAgentFactsPhase7(TypedDict):
    kind: Literal["interrupted"]
    turnId: int
    reason: Literal["aborted", "max_steps", "error"]
    at: int


class TranscriptAgentFactsPhase7(_TranscriptAgentFactsPhase7, total=False):
    step: int


class _TranscriptAgentFactsPhase8(TypedDict):
    kind: Literal["ended"]
    turnId: int
    reason: Literal["completed", "cancelled", "failed", "blocked"]
    at: int


class TranscriptAgentFactsPhase8(_TranscriptAgentFactsPhase8, total=False):
    durationMs: float


class TranscriptAgentFacts(TypedDict, total=False):
    model: str
    thinkingEffort: str
    usage: TranscriptAgentFactsUsage
    contextTokens: float
    maxContextTokens: float
    contextUsage: float
    permission: Literal["manual", "yolo", "auto"]
    permissionBy: TranscriptCaller
    phase: Union[TranscriptAgentFactsPhase1, TranscriptAgentFactsPhase2, TranscriptAgentFactsPhase3, TranscriptAgentFactsPhase4, TranscriptAgentFactsPhase5, TranscriptAgentFactsPhase6, TranscriptAgentFactsPhase7, TranscriptAgentFactsPhase8]


class TranscriptAttachmentSource1(TypedDict):
    kind: Literal["url"]
    url: str


class TranscriptAttachmentSource2(TypedDict):
    kind: Literal["file"]
    fileId: str


class TranscriptAttachmentSource3(TypedDict):
    kind: Literal["session_media"]
    fileId: str


class _TranscriptAttachment(TypedDict):
    attachmentId: str
    mediaType: str


class TranscriptAttachment(_TranscriptAttachment, total=False):
    name: str
    size: float
    placeholder: str
    source: Union[TranscriptAttachmentSource1, TranscriptAttachmentSource2, TranscriptAttachmentSource3]


class TranscriptBatch(TypedDict):
    seq: int
    ops: List[TranscriptOp]


class TranscriptCaller(TypedDict, total=False):
    clientName: str
    clientId: str
    userAgent: str
    remoteAddress: str


class _TranscriptFrameValue1(TypedDict):
    kind: Literal["text"]
    frameId: str
    role: Literal["assistant", "user"]
    text: str


class TranscriptFrameValue1(_TranscriptFrameValue1, total=False):
    attachmentIds: List[str]
    taskId: str


class TranscriptFrameValue2(TypedDict):
    kind: Literal["thinking"]
    frameId: str
    text: str


class _TranscriptFrameValue3Progress(TypedDict):
    kind: Literal["stdout", "stderr", "progress", "status", "custom"]


class TranscriptFrameValue3Progress(_TranscriptFrameValue3Progress, total=False):
    text: str
    percent: float
    customKind: str
    customData: Any


class _TranscriptFrameValue3AgentRefsItem(TypedDict):
    agentId: str


class TranscriptFrameValue3AgentRefsItem(_TranscriptFrameValue3AgentRefsItem, total=False):
    role: Literal["child", "member"]


class _TranscriptFrameValue3(TypedDict):
    kind: Literal["tool"]
    frameId: str
    toolCallId: str
    name: str
    state: Literal["running", "done", "error"]


class TranscriptFrameValue3(_TranscriptFrameValue3, total=False):
    view: str
    input: Any
    output: Any
    display: Any
    error: str
    inputText: str
    progress: TranscriptFrameValue3Progress
    taskId: str
    approvalId: str
    todoId: str
    agentRefs: List[TranscriptFrameValue3AgentRefsItem]


class _TranscriptFrameValue4(TypedDict):
    kind: Literal["notice"]
    frameId: str
    level: Literal["error", "warning", "info"]
    message: str


class TranscriptFrameValue4(_TranscriptFrameValue4, total=False):
    source: str
    detail: Any


TranscriptFrame = Union["Union[TranscriptFrameValue1, TranscriptFrameValue2, TranscriptFrameValue3, TranscriptFrameValue4]"]


class _TranscriptInteraction(TypedDict):
    interactionId: str
    interactionKind: Literal["approval", "question"]
    state: Literal["pending", "approved", "rejected", "cancelled", "answered", "dismissed"]


class TranscriptInteraction(_TranscriptInteraction, total=False):
    toolCallId: str
    request: Any
    response: Any
    answeredBy: TranscriptCaller


class TranscriptItemValue1Usage(TypedDict, total=False):
    inputTokens: float
    outputTokens: float
    cachedTokens: float
    cost: float


class _TranscriptItemValue1(TypedDict):
    kind: Literal["turn"]
    turnId: str
    ordinal: int
    state: Literal["queued", "running", "completed", "failed", "cancelled"]
    origin: TurnOrigin
    steps: List[TranscriptStep]


class TranscriptItemValue1(_TranscriptItemValue1, total=False):
    prompt: str
    attachmentIds: List[str]
    startedAt: str
    endedAt: str
    usage: TranscriptItemValue1Usage
    durationMs: float
    error: str


class _TranscriptItemValue2(TypedDict):
    kind: Literal["marker"]
    markerId: str
    marker: str


class TranscriptItemValue2(_TranscriptItemValue2, total=False):
    payload: Any
    at: str


class _TranscriptItemValue3(TypedDict):
    kind: Literal["taskref"]
    refId: str
    taskId: str


class TranscriptItemValue3(_TranscriptItemValue3, total=False):
    at: str


TranscriptItem = Union["Union[TranscriptItemValue1, TranscriptItemValue2, TranscriptItemValue3]"]


class _TranscriptMetaGoal(TypedDict):
    objective: str
    status: Literal["active", "paused", "blocked", "complete"]


class TranscriptMetaGoal(_TranscriptMetaGoal, total=False):
    completionCriterion: str
    budgetUsed: float
    budgetLimit: float


class TranscriptMetaModesPlan(TypedDict, total=False):
    reviewPath: str
    version: float


class TranscriptMetaModesSwarm(TypedDict, total=False):
    trigger: str


class TranscriptMetaModes(TypedDict, total=False):
    plan: TranscriptMetaModesPlan
    swarm: TranscriptMetaModesSwarm


class TranscriptMeta(TypedDict, total=False):
    goal: TranscriptMetaGoal
    modes: TranscriptMetaModes
    activity: Literal["idle", "turn", "disposing", "unknown"]
    agent: TranscriptAgentFacts
    settingsChanges: List[TranscriptSettingsChange]


class TranscriptOpValue1(TypedDict):
    op: Literal["turn.upsert"]
    turn: TranscriptTurnHeader


class TranscriptOpValue2(TypedDict):
    op: Literal["step.upsert"]
    turnId: str
    step: TranscriptStepHeader


class TranscriptOpValue3(TypedDict):
    op: Literal["frame.upsert"]
    turnId: str
    stepId: str
    frame: TranscriptFrame


class TranscriptOpValue4Target1(TypedDict):
    type: Literal["frame"]
    turnId: str
    stepId: str
    frameId: str


class TranscriptOpValue4Target2(TypedDict):
    type: Literal["task"]
    taskId: str


class TranscriptOpValue4(TypedDict):
    op: Literal["append"]
    target: Union[TranscriptOpValue4Target1, TranscriptOpValue4Target2]
    offset: int
    text: str


class _TranscriptOpValue5Item(TypedDict):
    kind: Literal["marker"]
    markerId: str
    marker: str


class TranscriptOpValue5Item(_TranscriptOpValue5Item, total=False):
    payload: Any
    at: str


class _TranscriptOpValue5(TypedDict):
    op: Literal["marker.upsert"]
    item: TranscriptOpValue5Item


class TranscriptOpValue5(_TranscriptOpValue5, total=False):
    beforeTurn: int


class _TranscriptOpValue6Item(TypedDict):
    kind: Literal["taskref"]
    refId: str
    taskId: str


class TranscriptOpValue6Item(_TranscriptOpValue6Item, total=False):
    at: str


class _TranscriptOpValue6(TypedDict):
    op: Literal["taskref.upsert"]
    item: TranscriptOpValue6Item


class TranscriptOpValue6(_TranscriptOpValue6, total=False):
    beforeTurn: int


class TranscriptOpValue7(TypedDict):
    op: Literal["task.upsert"]
    task: TranscriptTask


class TranscriptOpValue8(TypedDict):
    op: Literal["interaction.upsert"]
    interaction: TranscriptInteraction


class TranscriptOpValue9(TypedDict):
    op: Literal["attachment.upsert"]
    attachment: TranscriptAttachment


class TranscriptOpValue10(TypedDict):
    op: Literal["todo.upsert"]
    todo: TranscriptTodo


class TranscriptOpValue11(TypedDict):
    op: Literal["prompt.upsert"]
    prompt: TranscriptPrompt


class _TranscriptOpValue12MetaGoal1(TypedDict):
    objective: str
    status: Literal["active", "paused", "blocked", "complete"]


class TranscriptOpValue12MetaGoal1(_TranscriptOpValue12MetaGoal1, total=False):
    completionCriterion: str
    budgetUsed: float
    budgetLimit: float


class TranscriptOpValue12MetaModesPlan1(TypedDict, total=False):
    reviewPath: str
    version: float


class TranscriptOpValue12MetaModesSwarm1(TypedDict, total=False):
    trigger: str


class TranscriptOpValue12MetaModes(TypedDict, total=False):
    plan: Union[TranscriptOpValue12MetaModesPlan1, None]
    swarm: Union[TranscriptOpValue12MetaModesSwarm1, None]


class TranscriptOpValue12Meta(TypedDict, total=False):
    goal: Union[TranscriptOpValue12MetaGoal1, None]
    modes: TranscriptOpValue12MetaModes
    activity: Literal["idle", "turn", "disposing", "unknown"]
    agent: TranscriptAgentFacts
    settingsChanges: List[TranscriptSettingsChange]


class TranscriptOpValue12(TypedDict):
    op: Literal["meta.merge"]
    meta: TranscriptOpValue12Meta


class TranscriptOpValue13(TypedDict):
    op: Literal["items.remove"]
    ids: List[str]


class _TranscriptOpValue14Snapshot(TypedDict):
    items: List[TranscriptItem]
    tasks: List[TranscriptTask]
    interactions: List[TranscriptInteraction]
    attachments: List[TranscriptAttachment]
    todos: List[TranscriptTodo]
    prompts: List[TranscriptPrompt]
    meta: TranscriptMeta


class TranscriptOpValue14Snapshot(_TranscriptOpValue14Snapshot, total=False):
    hasMoreOlder: bool


class TranscriptOpValue14(TypedDict):
    op: Literal["reset"]
    agentId: str
    snapshot: TranscriptOpValue14Snapshot


TranscriptOp = Union["Union[TranscriptOpValue1, TranscriptOpValue2, TranscriptOpValue3, TranscriptOpValue4, TranscriptOpValue5, TranscriptOpValue6, TranscriptOpValue7, TranscriptOpValue8, TranscriptOpValue9, TranscriptOpValue10, TranscriptOpValue11, TranscriptOpValue12, TranscriptOpValue13, TranscriptOpValue14]"]


class _TranscriptPrompt(TypedDict):
    promptId: str
    status: Literal["running", "queued", "blocked", "completed", "failed", "aborted"]
    createdAt: str


class TranscriptPrompt(_TranscriptPrompt, total=False):
    userMessageId: str
    content: List[ContentPart]
    finishedAt: str
    steeredAt: str


class TranscriptSettingsChange(TypedDict):
    id: str
    message: str
    at: str


class TranscriptStepUsage(TypedDict):
    inputOther: float
    output: float
    inputCacheRead: float
    inputCacheCreation: float


class TranscriptStepTiming(TypedDict, total=False):
    llmFirstTokenLatencyMs: float
    llmStreamDurationMs: float
    llmRequestBuildMs: float
    llmServerFirstTokenMs: float
    llmServerDecodeMs: float
    llmClientConsumeMs: float


class _TranscriptStepRetry(TypedDict):
    failedAttempt: int
    nextAttempt: int
    maxAttempts: int
    delayMs: float
    errorName: str
    errorMessage: str


class TranscriptStepRetry(_TranscriptStepRetry, total=False):
    statusCode: int


class _TranscriptStep(TypedDict):
    kind: Literal["step"]
    stepId: str
    turnId: str
    ordinal: int
    state: Literal["running", "completed", "interrupted", "failed"]
    frames: List[TranscriptFrame]


class TranscriptStep(_TranscriptStep, total=False):
    startedAt: str
    endedAt: str
    usage: TranscriptStepUsage
    finishReason: str
    timing: TranscriptStepTiming
    retry: TranscriptStepRetry
    endReason: str
    endMessage: str


class TranscriptStepHeaderUsage(TypedDict):
    inputOther: float
    output: float
    inputCacheRead: float
    inputCacheCreation: float


class TranscriptStepHeaderTiming(TypedDict, total=False):
    llmFirstTokenLatencyMs: float
    llmStreamDurationMs: float
    llmRequestBuildMs: float
    llmServerFirstTokenMs: float
    llmServerDecodeMs: float
    llmClientConsumeMs: float


class _TranscriptStepHeaderRetry(TypedDict):
    failedAttempt: int
    nextAttempt: int
    maxAttempts: int
    delayMs: float
    errorName: str
    errorMessage: str


class TranscriptStepHeaderRetry(_TranscriptStepHeaderRetry, total=False):
    statusCode: int


class _TranscriptStepHeader(TypedDict):
    kind: Literal["step"]
    stepId: str
    turnId: str
    ordinal: int
    state: Literal["running", "completed", "interrupted", "failed"]


class TranscriptStepHeader(_TranscriptStepHeader, total=False):
    startedAt: str
    endedAt: str
    usage: TranscriptStepHeaderUsage
    finishReason: str
    timing: TranscriptStepHeaderTiming
    retry: TranscriptStepHeaderRetry
    endReason: str
    endMessage: str


class TranscriptTaskUsage(TypedDict):
    inputOther: float
    output: float
    inputCacheRead: float
    inputCacheCreation: float


class _TranscriptTask(TypedDict):
    taskId: str
    kind: Literal["shell", "subagent", "tool", "other"]
    state: Literal["running", "completed", "failed", "timed_out", "killed", "lost"]
    detached: bool
    outputTail: str


class TranscriptTask(_TranscriptTask, total=False):
    description: str
    agentId: str
    startedAt: str
    endedAt: str
    resultSummary: str
    error: str
    stateReason: str
    usage: TranscriptTaskUsage


class TranscriptTodoItemsItem(TypedDict):
    title: str
    status: Literal["pending", "in_progress", "done"]


class _TranscriptTodo(TypedDict):
    todoId: str
    items: List[TranscriptTodoItemsItem]


class TranscriptTodo(_TranscriptTodo, total=False):
    updatedAt: str


class TranscriptTurnHeaderUsage(TypedDict, total=False):
    inputTokens: float
    outputTokens: float
    cachedTokens: float
    cost: float


class _TranscriptTurnHeader(TypedDict):
    kind: Literal["turn"]
    turnId: str
    ordinal: int
    state: Literal["queued", "running", "completed", "failed", "cancelled"]
    origin: TurnOrigin


class TranscriptTurnHeader(_TranscriptTurnHeader, total=False):
    prompt: str
    attachmentIds: List[str]
    startedAt: str
    endedAt: str
    usage: TranscriptTurnHeaderUsage
    durationMs: float
    error: str


class _TurnOriginValue1(TypedDict):
    kind: Literal["user"]


class TurnOriginValue1(_TurnOriginValue1, total=False):
    payload: Origin


class _TurnOriginValue2(TypedDict):
    kind: Literal["cron"]


class TurnOriginValue2(_TurnOriginValue2, total=False):
    taskId: str
    payload: Origin


class _TurnOriginValue3(TypedDict):
    kind: Literal["task"]
    taskId: str


class TurnOriginValue3(_TurnOriginValue3, total=False):
    payload: Origin


class _TurnOriginValue4(TypedDict):
    kind: Literal["hook"]


class TurnOriginValue4(_TurnOriginValue4, total=False):
    payload: Origin


class _TurnOriginValue5(TypedDict):
    kind: Literal["compaction"]


class TurnOriginValue5(_TurnOriginValue5, total=False):
    payload: Origin


class _TurnOriginValue6(TypedDict):
    kind: Literal["side"]


class TurnOriginValue6(_TurnOriginValue6, total=False):
    payload: Origin


class _TurnOriginValue7(TypedDict):
    kind: Literal["other"]


class TurnOriginValue7(_TurnOriginValue7, total=False):
    payload: Origin


TurnOrigin = Union["Union[TurnOriginValue1, TurnOriginValue2, TurnOriginValue3, TurnOriginValue4, TurnOriginValue5, TurnOriginValue6, TurnOriginValue7]"]


class UserInfoPhone(TypedDict):
    countryCode: str
    number: str


class _UserInfo(TypedDict):
    userId: str
    nickname: str
    status: str
    region: str
    userLevel: int
    userLevelName: str
    domain: int
    domainName: str


class UserInfo(_UserInfo, total=False):
    globalId: str
    bio: str
    avatar: str
    username: str
    email: str
    createdTime: str
    lastLoginTime: str
    phone: UserInfoPhone


class Workspace(TypedDict):
    id: str
    root: str
    name: str
    created_at: str
    last_opened_at: str
    session_count: int


class GetCapabilitiesReply(TypedDict):
    capabilities: List[Capability]


class GetCatalogProvidersReply(TypedDict):
    items: List[CatalogEntry]


class GetConnectionsReply(TypedDict):
    connections: List[Connection]


class DeleteFileReply(TypedDict):
    deleted: Literal[True]


class GetFsHomeReply(TypedDict):
    home: str
    recent_roots: List[str]


class PostFsMkdirBody(TypedDict):
    path: str


class PostFsMkdirReply(TypedDict):
    path: str


class GetHealthzReply(TypedDict):
    ok: Literal[True]


class GetMcpServersReply(TypedDict):
    servers: List[McpServer]


class PostMcpServerRestartReply(TypedDict):
    restarting: Literal[True]


class GetModelsReply(TypedDict):
    items: List[ModelItem]


class PostModelSetDefaultReply(TypedDict):
    default_model: str
    model: ModelItem


class DeleteOauthLoginReply(TypedDict):
    cancelled: bool
    status: Literal["pending", "authenticated", "denied", "expired", "cancelled"]


class PostOauthLoginBody(TypedDict, total=False):
    provider: str
    region: Literal["mainland-cn", "global"]


class PostOauthLogoutBody(TypedDict, total=False):
    provider: str


class PostOauthLogoutReply(TypedDict):
    logged_out: Literal[True]
    provider: str


class GetOauthRegionReply(TypedDict):
    region: Literal["mainland-cn", "global"]


class GetOauthUsageReply1(TypedDict):
    kind: Literal["ok"]
    quota: Quota


class _GetOauthUsageReply2(TypedDict):
    kind: Literal["error"]
    message: str


class GetOauthUsageReply2(_GetOauthUsageReply2, total=False):
    status: int


class GetOauthUserinfoReply1(TypedDict):
    kind: Literal["ok"]
    userInfo: UserInfo


class _GetOauthUserinfoReply2(TypedDict):
    kind: Literal["error"]
    message: str


class GetOauthUserinfoReply2(_GetOauthUserinfoReply2, total=False):
    status: int


class GetPluginsReply(TypedDict):
    plugins: List[Plugin]


class PostPluginsBody(TypedDict):
    source: str


class PostPluginDisableReply(TypedDict):
    ok: Literal[True]


class PostPluginEnableReply(TypedDict):
    ok: Literal[True]


class PostPluginRemoveReply(TypedDict):
    ok: Literal[True]


class GetPluginsMarketplaceReply(TypedDict):
    entries: List[MarketplaceEntry]


class GetProvidersReply(TypedDict):
    items: List[ProviderItem]


class _PostProvidersBodyModelsItem(TypedDict):
    model: str
    max_context_size: int


class PostProvidersBodyModelsItem(_PostProvidersBodyModelsItem, total=False):
    display_name: str
    capabilities: List[str]
    max_output_size: int
    support_efforts: List[str]
    adaptive_thinking: bool


class _PostProvidersBody(TypedDict):
    id: str
    type: Literal["native", "openai", "openai_responses", "anthropic", "google-genai", "vertexai"]
    models: List[PostProvidersBodyModelsItem]


class PostProvidersBody(_PostProvidersBody, total=False):
    api_key: str
    base_url: str
    default_model: str


class _PutProviderBodyModelsItem(TypedDict):
    model: str
    max_context_size: int


class PutProviderBodyModelsItem(_PutProviderBodyModelsItem, total=False):
    display_name: str
    capabilities: List[str]
    max_output_size: int
    support_efforts: List[str]
    adaptive_thinking: bool


class _PutProviderBody(TypedDict):
    type: Literal["native", "openai", "openai_responses", "anthropic", "google-genai", "vertexai"]
    models: List[PutProviderBodyModelsItem]


class PutProviderBody(_PutProviderBody, total=False):
    new_id: str
    api_key: str
    base_url: str
    default_model: str


class PutProviderReply(TypedDict):
    provider: ProviderItem


class _PostProvidersImportCatalogBody(TypedDict):
    catalog_id: str


class PostProvidersImportCatalogBody(_PostProvidersImportCatalogBody, total=False):
    id: str
    api_key: str
    base_url: str


class PostProvidersImportCatalogReply(TypedDict):
    provider: ProviderItem
    models_imported: int


class _PostProvidersImportRegistryBody(TypedDict):
    url: str


class PostProvidersImportRegistryBody(_PostProvidersImportRegistryBody, total=False):
    api_key: str


class PostProvidersImportRegistryReply(TypedDict):
    providers: List[ProviderItem]
    models_imported: int


class PostRemoteControlBody(TypedDict):
    enabled: bool


class _GetRemoteControlDevicesReply(TypedDict):
    devices: List[RemoteDevice]


class GetRemoteControlDevicesReply(_GetRemoteControlDevicesReply, total=False):
    max_devices: int


class DeleteRemoteControlDeviceReply(TypedDict):
    ok: Literal[True]


class PatchRemoteControlDeviceBody(TypedDict):
    alias: str


class PatchRemoteControlDeviceReply(TypedDict):
    ok: Literal[True]


class PostRemoteControlDeviceDeactivateReply(TypedDict):
    ok: Literal[True]


class PostSearchBodyContainer(TypedDict, total=False):
    session_id: str
    agent_id: str
    workspace_id: str


class _PostSearchBody(TypedDict):
    query: str


class PostSearchBody(_PostSearchBody, total=False):
    mode: Literal["terms", "literal"]
    op: Literal["AND", "OR"]
    container: PostSearchBodyContainer
    role: Literal["user", "assistant", "title"]
    start_time: int
    end_time: int
    sort: Literal["score", "time_desc", "time_asc"]
    page_size: int
    page_token: str


class _PostSearchReplyIndexState(TypedDict):
    state: Literal["building", "ready", "readonly"]
    indexed_sessions: int
    total_sessions: int
    documents: int


class PostSearchReplyIndexState(_PostSearchReplyIndexState, total=False):
    stale: Literal[True]
    degraded: str


class _PostSearchReply(TypedDict):
    items: List[SearchHit]
    has_more: bool
    index_state: PostSearchReplyIndexState
    source: Literal["live", "index"]


class PostSearchReply(_PostSearchReply, total=False):
    page_token: str
    incomplete: Literal["candidate_cap", "postings_budget", "deadline"]


class GetSessionsReply(TypedDict):
    items: List[Session]
    has_more: bool


class PostSessionsBodyMetadata(TypedDict, total=False):
    cwd: str


class PostSessionsBodyAgentConfig(TypedDict, total=False):
    model: str
    system_prompt: str
    tools: List[str]
    mcp_servers: List[str]
    thinking: str
    permission_mode: Literal["manual", "yolo", "auto"]
    plan_mode: bool
    swarm_mode: bool
    goal_objective: str
    goal_control: Literal["pause", "resume", "cancel"]


class _PostSessionsBodyMcpServersItem1(TypedDict):
    name: str
    transport: Literal["stdio"]
    command: str


class PostSessionsBodyMcpServersItem1(_PostSessionsBodyMcpServersItem1, total=False):
    args: List[str]
    cwd: str
    runtime_id: str
    env: Dict[str, str]
    enabled: bool
    startupTimeoutMs: int
    toolTimeoutMs: int
    enabledTools: List[str]
    disabledTools: List[str]


class _PostSessionsBodyMcpServersItem2(TypedDict):
    name: str
    transport: Literal["http", "sse"]
    url: str


class PostSessionsBodyMcpServersItem2(_PostSessionsBodyMcpServersItem2, total=False):
    auth: Literal["oauth"]
    bearerTokenEnvVar: str
    headers: Dict[str, str]
    enabled: bool
    startupTimeoutMs: int
    toolTimeoutMs: int
    enabledTools: List[str]
    disabledTools: List[str]


class PostSessionsBody(TypedDict, total=False):
    workspace_id: str
    metadata: PostSessionsBodyMetadata
    title: str
    agent_config: PostSessionsBodyAgentConfig
    mcp_servers: List[Union[PostSessionsBodyMcpServersItem1, PostSessionsBodyMcpServersItem2]]
    additional_dirs: List[str]


class PostSessionAbortReply(TypedDict):
    aborted: Literal[True]


class PostSessionArchiveReply(TypedDict):
    archived: Literal[True]


class PostSessionBtwReply(TypedDict):
    agent_id: str


class PostSessionCompactBody(TypedDict, total=False):
    instruction: str


class PostSessionForkBody(TypedDict, total=False):
    title: str
    metadata: Dict[str, Any]


class PostSessionUndoBody(TypedDict, total=False):
    count: int
    page_size: int


class PostSessionUndoReplyMessages(TypedDict):
    items: List[Message]
    has_more: bool


class PostSessionUndoReply(TypedDict):
    messages: PostSessionUndoReplyMessages
    status: SessionStatus


class GetSessionApprovalsReply(TypedDict):
    items: List[ApprovalRequest]


class _PostSessionApprovalBody(TypedDict):
    decision: Literal["approved", "rejected", "cancelled"]


class PostSessionApprovalBody(_PostSessionApprovalBody, total=False):
    scope: Literal["session"]
    feedback: str
    selected_label: str


class PostSessionApprovalReply(TypedDict):
    resolved: Literal[True]
    resolved_at: str


class GetSessionChildrenReply(TypedDict):
    items: List[Session]
    has_more: bool


class PostSessionChildrenBody(TypedDict, total=False):
    title: str
    metadata: Dict[str, Any]


class PostSessionExportBody(TypedDict, total=False):
    web_log: str
    desktop: bool


class _PostSessionFsDiffBody(TypedDict):
    path: str


class PostSessionFsDiffBody(_PostSessionFsDiffBody, total=False):
    runtime_id: str


class PostSessionFsGitStatusBody(TypedDict, total=False):
    runtime_id: str
    paths: List[str]


class _PostSessionFsGrepBody(TypedDict):
    pattern: str


class PostSessionFsGrepBody(_PostSessionFsGrepBody, total=False):
    runtime_id: str
    regex: bool
    case_sensitive: bool
    include_globs: List[str]
    exclude_globs: List[str]
    follow_gitignore: bool
    max_files: int
    max_matches_per_file: int
    max_total_matches: int
    context_lines: int


class PostSessionFsListBody(TypedDict, total=False):
    runtime_id: str
    path: str
    depth: int
    limit: int
    show_hidden: bool
    follow_gitignore: bool
    exclude_globs: List[str]
    include_git_status: bool
    sort: Literal["type_first", "name_asc", "name_desc", "mtime_desc", "size_desc"]
    allow_ignored_globs: List[str]


class _PostSessionFsListManyBody(TypedDict):
    paths: List[str]


class PostSessionFsListManyBody(_PostSessionFsListManyBody, total=False):
    runtime_id: str
    depth: int
    limit: int
    show_hidden: bool
    follow_gitignore: bool
    exclude_globs: List[str]
    include_git_status: bool
    sort: Literal["type_first", "name_asc", "name_desc", "mtime_desc", "size_desc"]


class _PostSessionFsMkdirBody(TypedDict):
    path: str


class PostSessionFsMkdirBody(_PostSessionFsMkdirBody, total=False):
    runtime_id: str
    recursive: bool


class _PostSessionFsOpenBody(TypedDict):
    path: str


class PostSessionFsOpenBody(_PostSessionFsOpenBody, total=False):
    runtime_id: str
    line: int


class PostSessionFsOpenReply(TypedDict):
    opened: Literal[True]


class _PostSessionFsOpenInBody(TypedDict):
    app_id: Literal["finder", "cursor", "vscode", "iterm", "terminal"]
    path: str


class PostSessionFsOpenInBody(_PostSessionFsOpenInBody, total=False):
    runtime_id: str
    line: int


class PostSessionFsOpenInReply(TypedDict):
    opened: Literal[True]


class _PostSessionFsReadBody(TypedDict):
    path: str


class PostSessionFsReadBody(_PostSessionFsReadBody, total=False):
    runtime_id: str
    offset: int
    length: int
    encoding: Literal["auto", "utf-8", "base64"]


class _PostSessionFsRevealBody(TypedDict):
    path: str


class PostSessionFsRevealBody(_PostSessionFsRevealBody, total=False):
    runtime_id: str


class PostSessionFsRevealReply(TypedDict):
    revealed: Literal[True]


class _PostSessionFsSearchBody(TypedDict):
    query: str


class PostSessionFsSearchBody(_PostSessionFsSearchBody, total=False):
    runtime_id: str
    limit: int
    include_globs: List[str]
    exclude_globs: List[str]
    follow_gitignore: bool


class _PostSessionFsStatBody(TypedDict):
    path: str


class PostSessionFsStatBody(_PostSessionFsStatBody, total=False):
    runtime_id: str


class _PostSessionFsStatManyBody(TypedDict):
    paths: List[str]


class PostSessionFsStatManyBody(_PostSessionFsStatManyBody, total=False):
    runtime_id: str


class PostSessionFsStatManyReply(TypedDict):
    entries: Dict[str, Union[FileEntry, None]]


class GetSessionMessagesReply(TypedDict):
    items: List[Message]
    has_more: bool


class PostSessionProfileBodyMetadata(TypedDict, total=False):
    cwd: str


class PostSessionProfileBodyAgentConfig(TypedDict, total=False):
    model: str
    system_prompt: str
    tools: List[str]
    mcp_servers: List[str]
    thinking: str
    permission_mode: Literal["manual", "yolo", "auto"]
    plan_mode: bool
    swarm_mode: bool
    goal_objective: str
    goal_control: Literal["pause", "resume", "cancel"]


class _PostSessionProfileBodyPermissionRulesItemMatcher(TypedDict):
    kind: Literal["command_prefix", "path_glob", "exact_input", "always"]


class PostSessionProfileBodyPermissionRulesItemMatcher(_PostSessionProfileBodyPermissionRulesItemMatcher, total=False):
    value: Any


class _PostSessionProfileBodyPermissionRulesItem(TypedDict):
    id: str
    tool_name: str
    decision: Literal["approved"]
    created_at: str
    created_by: Literal["user", "agent"]


class PostSessionProfileBodyPermissionRulesItem(_PostSessionProfileBodyPermissionRulesItem, total=False):
    matcher: PostSessionProfileBodyPermissionRulesItemMatcher


class _PostSessionProfileBodyMcpServersItem1(TypedDict):
    name: str
    transport: Literal["stdio"]
    command: str


class PostSessionProfileBodyMcpServersItem1(_PostSessionProfileBodyMcpServersItem1, total=False):
    args: List[str]
    cwd: str
    runtime_id: str
    env: Dict[str, str]
    enabled: bool
    startupTimeoutMs: int
    toolTimeoutMs: int
    enabledTools: List[str]
    disabledTools: List[str]


class _PostSessionProfileBodyMcpServersItem2(TypedDict):
    name: str
    transport: Literal["http", "sse"]
    url: str


class PostSessionProfileBodyMcpServersItem2(_PostSessionProfileBodyMcpServersItem2, total=False):
    auth: Literal["oauth"]
    bearerTokenEnvVar: str
    headers: Dict[str, str]
    enabled: bool
    startupTimeoutMs: int
    toolTimeoutMs: int
    enabledTools: List[str]
    disabledTools: List[str]


class PostSessionProfileBody(TypedDict, total=False):
    title: str
    metadata: PostSessionProfileBodyMetadata
    agent_config: PostSessionProfileBodyAgentConfig
    permission_rules: List[PostSessionProfileBodyPermissionRulesItem]
    mcp_servers: List[Union[PostSessionProfileBodyMcpServersItem1, PostSessionProfileBodyMcpServersItem2]]
    additional_dirs: List[str]


class GetSessionPromptsReply(TypedDict):
    active: Union[Prompt, None]
    queued: List[Prompt]


class _PostSessionPromptsBodySkillsItem(TypedDict):
    name: str


class PostSessionPromptsBodySkillsItem(_PostSessionPromptsBodySkillsItem, total=False):
    args: str


class _PostSessionPromptsBody(TypedDict):
    content: List[ContentPartInput]


class PostSessionPromptsBody(_PostSessionPromptsBody, total=False):
    agent_id: str
    prompt_id: str
    skills: List[PostSessionPromptsBodySkillsItem]
    profile: str
    model: str
    thinking: str
    permission_mode: Literal["manual", "yolo", "auto"]
    disabled_tools: List[str]
    metadata: Dict[str, Any]
    plan_mode: bool
    swarm_mode: bool
    goal_objective: str
    goal_control: Literal["pause", "resume", "cancel"]


class PostSessionPromptAbortReply(TypedDict):
    aborted: Literal[True]


class PostSessionPromptSteerReply(TypedDict):
    steered: Literal[True]
    prompt_ids: List[str]


class PostSessionPromptsSteerBody(TypedDict):
    prompt_ids: List[str]


class PostSessionPromptsSteerReply(TypedDict):
    steered: Literal[True]
    prompt_ids: List[str]


class GetSessionQuestionsReply(TypedDict):
    items: List[QuestionRequest]


class PostSessionQuestionBodyAnswersValue1(TypedDict):
    kind: Literal["single"]
    option_id: str


class PostSessionQuestionBodyAnswersValue2(TypedDict):
    kind: Literal["multi"]
    option_ids: List[str]


class PostSessionQuestionBodyAnswersValue3(TypedDict):
    kind: Literal["other"]
    text: str


class PostSessionQuestionBodyAnswersValue4(TypedDict):
    kind: Literal["multi_with_other"]
    option_ids: List[str]
    other_text: str


class PostSessionQuestionBodyAnswersValue5(TypedDict):
    kind: Literal["skipped"]


class _PostSessionQuestionBody(TypedDict):
    answers: Dict[str, Union[PostSessionQuestionBodyAnswersValue1, PostSessionQuestionBodyAnswersValue2, PostSessionQuestionBodyAnswersValue3, PostSessionQuestionBodyAnswersValue4, PostSessionQuestionBodyAnswersValue5]]


class PostSessionQuestionBody(_PostSessionQuestionBody, total=False):
    method: Literal["enter", "space", "number_key", "click"]
    note: str


class PostSessionQuestionReply(TypedDict):
    resolved: Literal[True]
    resolved_at: str


class GetSessionRuntimeReply(TypedDict):
    workspace_id: str
    runtime_id: str


class PostSessionRuntimeBody(TypedDict):
    runtime_id: str


class PostSessionRuntimeReply(TypedDict):
    workspace_id: str
    runtime_id: str


class GetSessionSkillsReply(TypedDict):
    skills: List[SkillDescriptor]


class _PostSessionSkillActivateBodyAttachmentsItem1Source1(TypedDict):
    kind: Literal["url"]
    url: str


class PostSessionSkillActivateBodyAttachmentsItem1Source1(_PostSessionSkillActivateBodyAttachmentsItem1Source1, total=False):
    id: str


class PostSessionSkillActivateBodyAttachmentsItem1Source2(TypedDict):
    kind: Literal["base64"]
    media_type: str
    data: str


class PostSessionSkillActivateBodyAttachmentsItem1Source3(TypedDict):
    kind: Literal["file"]
    file_id: str


class PostSessionSkillActivateBodyAttachmentsItem1Source4(TypedDict):
    kind: Literal["session_media"]
    file_id: str


class PostSessionSkillActivateBodyAttachmentsItem1(TypedDict):
    type: Literal["image"]
    source: Union[PostSessionSkillActivateBodyAttachmentsItem1Source1, PostSessionSkillActivateBodyAttachmentsItem1Source2, PostSessionSkillActivateBodyAttachmentsItem1Source3, PostSessionSkillActivateBodyAttachmentsItem1Source4]


class _PostSessionSkillActivateBodyAttachmentsItem2Source1(TypedDict):
    kind: Literal["url"]
    url: str


class PostSessionSkillActivateBodyAttachmentsItem2Source1(_PostSessionSkillActivateBodyAttachmentsItem2Source1, total=False):
    id: str


class PostSessionSkillActivateBodyAttachmentsItem2Source2(TypedDict):
    kind: Literal["base64"]
    media_type: str
    data: str


class PostSessionSkillActivateBodyAttachmentsItem2Source3(TypedDict):
    kind: Literal["file"]
    file_id: str


class PostSessionSkillActivateBodyAttachmentsItem2Source4(TypedDict):
    kind: Literal["session_media"]
    file_id: str


class PostSessionSkillActivateBodyAttachmentsItem2(TypedDict):
    type: Literal["video"]
    source: Union[PostSessionSkillActivateBodyAttachmentsItem2Source1, PostSessionSkillActivateBodyAttachmentsItem2Source2, PostSessionSkillActivateBodyAttachmentsItem2Source3, PostSessionSkillActivateBodyAttachmentsItem2Source4]


class PostSessionSkillActivateBodyAttachmentsItem3(TypedDict):
    type: Literal["file"]
    file_id: str
    name: str
    media_type: str
    size: int


class PostSessionSkillActivateBody(TypedDict, total=False):
    args: str
    attachments: List[Union[PostSessionSkillActivateBodyAttachmentsItem1, PostSessionSkillActivateBodyAttachmentsItem2, PostSessionSkillActivateBodyAttachmentsItem3]]


class PostSessionSkillActivateReply(TypedDict):
    activated: Literal[True]
    skill_name: str


class GetSessionTasksReply(TypedDict):
    items: List[Task]


class PostSessionTaskCancelReply(TypedDict):
    cancelled: Literal[True]


class PostSessionTaskDetachReply(TypedDict):
    detached: bool
    status: Literal["running", "completed", "failed", "cancelled"]


class _GetSessionTerminalsReplyItemsItem(TypedDict):
    id: str
    session_id: str
    cwd: str
    shell: str
    cols: int
    rows: int
    status: Literal["running", "exited"]
    created_at: str


class GetSessionTerminalsReplyItemsItem(_GetSessionTerminalsReplyItemsItem, total=False):
    exited_at: str
    exit_code: Union[int, None]


class GetSessionTerminalsReply(TypedDict):
    items: List[GetSessionTerminalsReplyItemsItem]


class PostSessionTerminalsBody(TypedDict, total=False):
    runtime_id: str
    cwd: str
    shell: str
    cols: int
    rows: int


class _PostSessionTerminalsReply(TypedDict):
    id: str
    session_id: str
    cwd: str
    shell: str
    cols: int
    rows: int
    status: Literal["running", "exited"]
    created_at: str


class PostSessionTerminalsReply(_PostSessionTerminalsReply, total=False):
    exited_at: str
    exit_code: Union[int, None]


class _GetSessionTerminalReply(TypedDict):
    id: str
    session_id: str
    cwd: str
    shell: str
    cols: int
    rows: int
    status: Literal["running", "exited"]
    created_at: str


class GetSessionTerminalReply(_GetSessionTerminalReply, total=False):
    exited_at: str
    exit_code: Union[int, None]


class PostSessionTerminalCloseReply(TypedDict):
    closed: Literal[True]


class PostSessionTitleGenerateBody(TypedDict, total=False):
    force: bool
    source: Literal["user_prompts", "first_turn", "digest"]


class PostSessionTitleGenerateReply(TypedDict):
    title: str


class _GetSessionTranscriptReply(TypedDict):
    agent_id: str
    items: List[TranscriptItem]
    has_more: bool
    tasks: List[TranscriptTask]
    interactions: List[TranscriptInteraction]
    attachments: List[TranscriptAttachment]
    todos: List[TranscriptTodo]
    prompts: List[TranscriptPrompt]
    meta: TranscriptMeta
    agents: List[TranscriptAgent]
    pending_interactions: List[str]


class GetSessionTranscriptReply(_GetSessionTranscriptReply, total=False):
    seq: int


class GetSessionTranscriptOpsReply(TypedDict):
    agent_id: str
    batches: List[TranscriptBatch]
    latest_seq: int
    complete: bool


class _GetSessionTranscriptPlanReplyPlansItemOptionsItem(TypedDict):
    label: str


class GetSessionTranscriptPlanReplyPlansItemOptionsItem(_GetSessionTranscriptPlanReplyPlansItemOptionsItem, total=False):
    description: str


class _GetSessionTranscriptPlanReplyPlansItemReview(TypedDict):
    state: str


class GetSessionTranscriptPlanReplyPlansItemReview(_GetSessionTranscriptPlanReplyPlansItemReview, total=False):
    selected_option: str
    feedback: str


class _GetSessionTranscriptPlanReplyPlansItem(TypedDict):
    tool_call_id: str
    turn_id: str
    source: Literal["interaction", "display", "output"]
    plan: str


class GetSessionTranscriptPlanReplyPlansItem(_GetSessionTranscriptPlanReplyPlansItem, total=False):
    path: str
    options: List[GetSessionTranscriptPlanReplyPlansItemOptionsItem]
    review: GetSessionTranscriptPlanReplyPlansItemReview


class GetSessionTranscriptPlanReply(TypedDict):
    agent_id: str
    plans: List[GetSessionTranscriptPlanReplyPlansItem]


class _GetSessionTranscriptUserMessagesReplyAgentsItemMessagesItem(TypedDict):
    turn_id: str
    ordinal: int
    state: Literal["queued", "running", "completed", "failed", "cancelled"]
    origin: TurnOrigin
    prompt: str


class GetSessionTranscriptUserMessagesReplyAgentsItemMessagesItem(_GetSessionTranscriptUserMessagesReplyAgentsItemMessagesItem, total=False):
    attachment_ids: List[str]
    started_at: str


class GetSessionTranscriptUserMessagesReplyAgentsItem(TypedDict):
    agent_id: str
    messages: List[GetSessionTranscriptUserMessagesReplyAgentsItemMessagesItem]
    attachments: List[TranscriptAttachment]


class GetSessionTranscriptUserMessagesReply(TypedDict):
    agents: List[GetSessionTranscriptUserMessagesReplyAgentsItem]


class _GetSessionWarningsReplyWarningsItem(TypedDict):
    code: str
    message: str
    severity: Literal["info", "warning", "error"]


class GetSessionWarningsReplyWarningsItem(_GetSessionWarningsReplyWarningsItem, total=False):
    directory: str


class GetSessionWarningsReply(TypedDict):
    warnings: List[GetSessionWarningsReplyWarningsItem]


class PostShutdownReply(TypedDict):
    ok: Literal[True]


class GetToolsReply(TypedDict):
    tools: List[ToolDescriptor]


class _PostWorkspaceFsSearchBody(TypedDict):
    workspace: str
    query: str


class PostWorkspaceFsSearchBody(_PostWorkspaceFsSearchBody, total=False):
    runtime_id: str
    limit: int
    include_globs: List[str]
    exclude_globs: List[str]
    follow_gitignore: bool


class _PostWorkspaceFsSuggestBody(TypedDict):
    workspace: str
    query: str


class PostWorkspaceFsSuggestBody(_PostWorkspaceFsSuggestBody, total=False):
    runtime_id: str
    limit: int
    include_globs: List[str]
    exclude_globs: List[str]
    follow_gitignore: bool
    show_hidden: bool


class GetWorkspacesReply(TypedDict):
    items: List[Workspace]


class _PostWorkspacesBody(TypedDict):
    root: str


class PostWorkspacesBody(_PostWorkspacesBody, total=False):
    name: str


class DeleteWorkspaceReply(TypedDict):
    deleted: Literal[True]


class PatchWorkspaceBody(TypedDict):
    name: str


class _PostWorkspaceAddDirBody(TypedDict):
    path: str


class PostWorkspaceAddDirBody(_PostWorkspaceAddDirBody, total=False):
    persist: bool


class PostWorkspaceAddDirReply(TypedDict):
    project_root: str
    config_path: str
    additional_dirs: List[str]
    persisted: bool


class GetWorkspaceSkillsReply(TypedDict):
    skills: List[SkillDescriptor]


class GetWorkspaceTrustReply(TypedDict):
    trusted: bool


class PostWorkspaceTrustReply(TypedDict):
    trusted: bool


class PostWorkspaceUntrustReply(TypedDict):
    trusted: bool


class GetV2McpAuthStatusesReplyItem(TypedDict):
    name: str
    authStatus: Literal["not-applicable", "bearer-token", "oauth-required", "oauth-authorized", "oauth-expired", "unavailable"]


class _PostV2McpAuthBeginBody1(TypedDict):
    source: Literal["global"]
    name: str


class PostV2McpAuthBeginBody1(_PostV2McpAuthBeginBody1, total=False):
    cwd: str


class _PostV2McpAuthBeginBody2(TypedDict):
    source: Literal["plugin"]
    pluginId: str
    serverName: str


class PostV2McpAuthBeginBody2(_PostV2McpAuthBeginBody2, total=False):
    cwd: str


class PostV2McpAuthBeginReply1(TypedDict):
    status: Literal["authorization-required"]
    flowId: str
    authorizationUrl: str


class PostV2McpAuthBeginReply2(TypedDict):
    status: Literal["already-authorized"]


class PostV2McpAuthCancelBody(TypedDict):
    flowId: str


class _PostV2McpAuthCompleteBody(TypedDict):
    flowId: str


class PostV2McpAuthCompleteBody(_PostV2McpAuthCompleteBody, total=False):
    timeoutMs: int
    redirectUrl: str


class _PostV2McpAuthResetBody1(TypedDict):
    source: Literal["global"]
    name: str


class PostV2McpAuthResetBody1(_PostV2McpAuthResetBody1, total=False):
    cwd: str


class _PostV2McpAuthResetBody2(TypedDict):
    source: Literal["plugin"]
    pluginId: str
    serverName: str


class PostV2McpAuthResetBody2(_PostV2McpAuthResetBody2, total=False):
    cwd: str


class _GetV2McpServersReplyItemConfig1(TypedDict):
    transport: Literal["stdio"]
    command: str


class GetV2McpServersReplyItemConfig1(_GetV2McpServersReplyItemConfig1, total=False):
    args: List[str]
    cwd: str
    runtime_id: str
    env: Dict[str, str]
    enabled: bool
    startupTimeoutMs: int
    toolTimeoutMs: int
    enabledTools: List[str]
    disabledTools: List[str]


class _GetV2McpServersReplyItemConfig2(TypedDict):
    transport: Literal["http", "sse"]
    url: str


class GetV2McpServersReplyItemConfig2(_GetV2McpServersReplyItemConfig2, total=False):
    auth: Literal["oauth"]
    bearerTokenEnvVar: str
    headers: Dict[str, str]
    enabled: bool
    startupTimeoutMs: int
    toolTimeoutMs: int
    enabledTools: List[str]
    disabledTools: List[str]


class _GetV2McpServersReplyItemConfig31(TypedDict):
    transport: Literal["stdio"]
    command: str


class GetV2McpServersReplyItemConfig31(_GetV2McpServersReplyItemConfig31, total=False):
    args: List[str]
    cwd: str
    runtime_id: str
    enabled: bool
    startupTimeoutMs: int
    toolTimeoutMs: int
    enabledTools: List[str]
    disabledTools: List[str]
    envKeys: List[str]


class _GetV2McpServersReplyItemConfig32(TypedDict):
    transport: Literal["http", "sse"]
    url: str


class GetV2McpServersReplyItemConfig32(_GetV2McpServersReplyItemConfig32, total=False):
    auth: Literal["oauth"]
    bearerTokenEnvVar: str
    enabled: bool
    startupTimeoutMs: int
    toolTimeoutMs: int
    enabledTools: List[str]
    disabledTools: List[str]
    headerKeys: List[str]


class GetV2McpServersReplyItemPlugin(TypedDict):
    id: str
    name: str


class _GetV2McpServersReplyItem(TypedDict):
    name: str
    config: Union[GetV2McpServersReplyItemConfig1, GetV2McpServersReplyItemConfig2, Union[GetV2McpServersReplyItemConfig31, GetV2McpServersReplyItemConfig32]]
    source: Literal["global", "plugin"]
    origin: str
    mutable: bool


class GetV2McpServersReplyItem(_GetV2McpServersReplyItem, total=False):
    plugin: GetV2McpServersReplyItemPlugin


class _PostV2McpServersBody1(TypedDict):
    name: str
    transport: Literal["stdio"]
    command: str


class PostV2McpServersBody1(_PostV2McpServersBody1, total=False):
    args: List[str]
    cwd: str
    runtime_id: str
    env: Dict[str, str]
    enabled: bool
    startupTimeoutMs: int
    toolTimeoutMs: int
    enabledTools: List[str]
    disabledTools: List[str]


class _PostV2McpServersBody2(TypedDict):
    name: str
    transport: Literal["http", "sse"]
    url: str


class PostV2McpServersBody2(_PostV2McpServersBody2, total=False):
    auth: Literal["oauth"]
    bearerTokenEnvVar: str
    headers: Dict[str, str]
    enabled: bool
    startupTimeoutMs: int
    toolTimeoutMs: int
    enabledTools: List[str]
    disabledTools: List[str]


class _PostV2McpServersReplyItemConfig1(TypedDict):
    transport: Literal["stdio"]
    command: str


class PostV2McpServersReplyItemConfig1(_PostV2McpServersReplyItemConfig1, total=False):
    args: List[str]
    cwd: str
    runtime_id: str
    env: Dict[str, str]
    enabled: bool
    startupTimeoutMs: int
    toolTimeoutMs: int
    enabledTools: List[str]
    disabledTools: List[str]


class _PostV2McpServersReplyItemConfig2(TypedDict):
    transport: Literal["http", "sse"]
    url: str


class PostV2McpServersReplyItemConfig2(_PostV2McpServersReplyItemConfig2, total=False):
    auth: Literal["oauth"]
    bearerTokenEnvVar: str
    headers: Dict[str, str]
    enabled: bool
    startupTimeoutMs: int
    toolTimeoutMs: int
    enabledTools: List[str]
    disabledTools: List[str]


class _PostV2McpServersReplyItemConfig31(TypedDict):
    transport: Literal["stdio"]
    command: str


class PostV2McpServersReplyItemConfig31(_PostV2McpServersReplyItemConfig31, total=False):
    args: List[str]
    cwd: str
    runtime_id: str
    enabled: bool
    startupTimeoutMs: int
    toolTimeoutMs: int
    enabledTools: List[str]
    disabledTools: List[str]
    envKeys: List[str]


class _PostV2McpServersReplyItemConfig32(TypedDict):
    transport: Literal["http", "sse"]
    url: str


class PostV2McpServersReplyItemConfig32(_PostV2McpServersReplyItemConfig32, total=False):
    auth: Literal["oauth"]
    bearerTokenEnvVar: str
    enabled: bool
    startupTimeoutMs: int
    toolTimeoutMs: int
    enabledTools: List[str]
    disabledTools: List[str]
    headerKeys: List[str]


class PostV2McpServersReplyItemPlugin(TypedDict):
    id: str
    name: str


class _PostV2McpServersReplyItem(TypedDict):
    name: str
    config: Union[PostV2McpServersReplyItemConfig1, PostV2McpServersReplyItemConfig2, Union[PostV2McpServersReplyItemConfig31, PostV2McpServersReplyItemConfig32]]
    source: Literal["global", "plugin"]
    origin: str
    mutable: bool


class PostV2McpServersReplyItem(_PostV2McpServersReplyItem, total=False):
    plugin: PostV2McpServersReplyItemPlugin


class _DeleteV2McpServerReplyItemConfig1(TypedDict):
    transport: Literal["stdio"]
    command: str


class DeleteV2McpServerReplyItemConfig1(_DeleteV2McpServerReplyItemConfig1, total=False):
    args: List[str]
    cwd: str
    runtime_id: str
    env: Dict[str, str]
    enabled: bool
    startupTimeoutMs: int
    toolTimeoutMs: int
    enabledTools: List[str]
    disabledTools: List[str]


class _DeleteV2McpServerReplyItemConfig2(TypedDict):
    transport: Literal["http", "sse"]
    url: str


class DeleteV2McpServerReplyItemConfig2(_DeleteV2McpServerReplyItemConfig2, total=False):
    auth: Literal["oauth"]
    bearerTokenEnvVar: str
    headers: Dict[str, str]
    enabled: bool
    startupTimeoutMs: int
    toolTimeoutMs: int
    enabledTools: List[str]
    disabledTools: List[str]


class _DeleteV2McpServerReplyItemConfig31(TypedDict):
    transport: Literal["stdio"]
    command: str


class DeleteV2McpServerReplyItemConfig31(_DeleteV2McpServerReplyItemConfig31, total=False):
    args: List[str]
    cwd: str
    runtime_id: str
    enabled: bool
    startupTimeoutMs: int
    toolTimeoutMs: int
    enabledTools: List[str]
    disabledTools: List[str]
    envKeys: List[str]


class _DeleteV2McpServerReplyItemConfig32(TypedDict):
    transport: Literal["http", "sse"]
    url: str


class DeleteV2McpServerReplyItemConfig32(_DeleteV2McpServerReplyItemConfig32, total=False):
    auth: Literal["oauth"]
    bearerTokenEnvVar: str
    enabled: bool
    startupTimeoutMs: int
    toolTimeoutMs: int
    enabledTools: List[str]
    disabledTools: List[str]
    headerKeys: List[str]


class DeleteV2McpServerReplyItemPlugin(TypedDict):
    id: str
    name: str


class _DeleteV2McpServerReplyItem(TypedDict):
    name: str
    config: Union[DeleteV2McpServerReplyItemConfig1, DeleteV2McpServerReplyItemConfig2, Union[DeleteV2McpServerReplyItemConfig31, DeleteV2McpServerReplyItemConfig32]]
    source: Literal["global", "plugin"]
    origin: str
    mutable: bool


class DeleteV2McpServerReplyItem(_DeleteV2McpServerReplyItem, total=False):
    plugin: DeleteV2McpServerReplyItemPlugin


class _GetV2McpServerReplyConfig1(TypedDict):
    transport: Literal["stdio"]
    command: str


class GetV2McpServerReplyConfig1(_GetV2McpServerReplyConfig1, total=False):
    args: List[str]
    cwd: str
    runtime_id: str
    env: Dict[str, str]
    enabled: bool
    startupTimeoutMs: int
    toolTimeoutMs: int
    enabledTools: List[str]
    disabledTools: List[str]


class _GetV2McpServerReplyConfig2(TypedDict):
    transport: Literal["http", "sse"]
    url: str


class GetV2McpServerReplyConfig2(_GetV2McpServerReplyConfig2, total=False):
    auth: Literal["oauth"]
    bearerTokenEnvVar: str
    headers: Dict[str, str]
    enabled: bool
    startupTimeoutMs: int
    toolTimeoutMs: int
    enabledTools: List[str]
    disabledTools: List[str]


class _GetV2McpServerReplyConfig31(TypedDict):
    transport: Literal["stdio"]
    command: str


class GetV2McpServerReplyConfig31(_GetV2McpServerReplyConfig31, total=False):
    args: List[str]
    cwd: str
    runtime_id: str
    enabled: bool
    startupTimeoutMs: int
    toolTimeoutMs: int
    enabledTools: List[str]
    disabledTools: List[str]
    envKeys: List[str]


class _GetV2McpServerReplyConfig32(TypedDict):
    transport: Literal["http", "sse"]
    url: str


class GetV2McpServerReplyConfig32(_GetV2McpServerReplyConfig32, total=False):
    auth: Literal["oauth"]
    bearerTokenEnvVar: str
    enabled: bool
    startupTimeoutMs: int
    toolTimeoutMs: int
    enabledTools: List[str]
    disabledTools: List[str]
    headerKeys: List[str]


class GetV2McpServerReplyPlugin(TypedDict):
    id: str
    name: str


class _GetV2McpServerReply(TypedDict):
    name: str
    config: Union[GetV2McpServerReplyConfig1, GetV2McpServerReplyConfig2, Union[GetV2McpServerReplyConfig31, GetV2McpServerReplyConfig32]]
    source: Literal["global", "plugin"]
    origin: str
    mutable: bool


class GetV2McpServerReply(_GetV2McpServerReply, total=False):
    plugin: GetV2McpServerReplyPlugin


class _PutV2McpServerBody1(TypedDict):
    transport: Literal["stdio"]
    command: str


class PutV2McpServerBody1(_PutV2McpServerBody1, total=False):
    args: List[str]
    cwd: str
    runtime_id: str
    env: Dict[str, str]
    enabled: bool
    startupTimeoutMs: int
    toolTimeoutMs: int
    enabledTools: List[str]
    disabledTools: List[str]


class _PutV2McpServerBody2(TypedDict):
    transport: Literal["http", "sse"]
    url: str


class PutV2McpServerBody2(_PutV2McpServerBody2, total=False):
    auth: Literal["oauth"]
    bearerTokenEnvVar: str
    headers: Dict[str, str]
    enabled: bool
    startupTimeoutMs: int
    toolTimeoutMs: int
    enabledTools: List[str]
    disabledTools: List[str]


class _PutV2McpServerReplyItemConfig1(TypedDict):
    transport: Literal["stdio"]
    command: str


class PutV2McpServerReplyItemConfig1(_PutV2McpServerReplyItemConfig1, total=False):
    args: List[str]
    cwd: str
    runtime_id: str
    env: Dict[str, str]
    enabled: bool
    startupTimeoutMs: int
    toolTimeoutMs: int
    enabledTools: List[str]
    disabledTools: List[str]


class _PutV2McpServerReplyItemConfig2(TypedDict):
    transport: Literal["http", "sse"]
    url: str


class PutV2McpServerReplyItemConfig2(_PutV2McpServerReplyItemConfig2, total=False):
    auth: Literal["oauth"]
    bearerTokenEnvVar: str
    headers: Dict[str, str]
    enabled: bool
    startupTimeoutMs: int
    toolTimeoutMs: int
    enabledTools: List[str]
    disabledTools: List[str]


class _PutV2McpServerReplyItemConfig31(TypedDict):
    transport: Literal["stdio"]
    command: str


class PutV2McpServerReplyItemConfig31(_PutV2McpServerReplyItemConfig31, total=False):
    args: List[str]
    cwd: str
    runtime_id: str
    enabled: bool
    startupTimeoutMs: int
    toolTimeoutMs: int
    enabledTools: List[str]
    disabledTools: List[str]
    envKeys: List[str]


class _PutV2McpServerReplyItemConfig32(TypedDict):
    transport: Literal["http", "sse"]
    url: str


class PutV2McpServerReplyItemConfig32(_PutV2McpServerReplyItemConfig32, total=False):
    auth: Literal["oauth"]
    bearerTokenEnvVar: str
    enabled: bool
    startupTimeoutMs: int
    toolTimeoutMs: int
    enabledTools: List[str]
    disabledTools: List[str]
    headerKeys: List[str]


class PutV2McpServerReplyItemPlugin(TypedDict):
    id: str
    name: str


class _PutV2McpServerReplyItem(TypedDict):
    name: str
    config: Union[PutV2McpServerReplyItemConfig1, PutV2McpServerReplyItemConfig2, Union[PutV2McpServerReplyItemConfig31, PutV2McpServerReplyItemConfig32]]
    source: Literal["global", "plugin"]
    origin: str
    mutable: bool


class PutV2McpServerReplyItem(_PutV2McpServerReplyItem, total=False):
    plugin: PutV2McpServerReplyItemPlugin


class PostV2McpServersInspectBodyTargetsItem1(TypedDict):
    source: Literal["global"]
    name: str


class PostV2McpServersInspectBodyTargetsItem2(TypedDict):
    source: Literal["plugin"]
    pluginId: str
    serverName: str


class PostV2McpServersInspectBody(TypedDict, total=False):
    targets: List[Union[PostV2McpServersInspectBodyTargetsItem1, PostV2McpServersInspectBodyTargetsItem2]]
    cwd: str


class PostV2McpServersInspectReplyItemLocator1(TypedDict):
    source: Literal["global"]
    name: str


class PostV2McpServersInspectReplyItemLocator2(TypedDict):
    source: Literal["plugin"]
    pluginId: str
    serverName: str


class _PostV2McpServersInspectReplyItemConfig1(TypedDict):
    transport: Literal["stdio"]
    command: str


class PostV2McpServersInspectReplyItemConfig1(_PostV2McpServersInspectReplyItemConfig1, total=False):
    args: List[str]
    cwd: str
    runtime_id: str
    enabled: bool
    startupTimeoutMs: int
    toolTimeoutMs: int
    enabledTools: List[str]
    disabledTools: List[str]
    envKeys: List[str]


class _PostV2McpServersInspectReplyItemConfig2(TypedDict):
    transport: Literal["http", "sse"]
    url: str


class PostV2McpServersInspectReplyItemConfig2(_PostV2McpServersInspectReplyItemConfig2, total=False):
    auth: Literal["oauth"]
    bearerTokenEnvVar: str
    enabled: bool
    startupTimeoutMs: int
    toolTimeoutMs: int
    enabledTools: List[str]
    disabledTools: List[str]
    headerKeys: List[str]


class _PostV2McpServersInspectReplyItem(TypedDict):
    serverId: str
    locator: Union[PostV2McpServersInspectReplyItemLocator1, PostV2McpServersInspectReplyItemLocator2]
    runtimeName: str
    origin: Literal["global", "plugin"]
    config: Union[PostV2McpServersInspectReplyItemConfig1, PostV2McpServersInspectReplyItemConfig2]
    enabled: bool
    editable: bool
    authStatus: Literal["not-applicable", "bearer-token", "oauth-required", "oauth-authorized", "oauth-expired", "unavailable"]


class PostV2McpServersInspectReplyItem(_PostV2McpServersInspectReplyItem, total=False):
    canonicalUrl: str
    checkedAt: float
    error: str


class _PostV2McpServersTestBodyServer1(TypedDict):
    name: str
    transport: Literal["stdio"]
    command: str


class PostV2McpServersTestBodyServer1(_PostV2McpServersTestBodyServer1, total=False):
    args: List[str]
    cwd: str
    runtime_id: str
    env: Dict[str, str]
    enabled: bool
    startupTimeoutMs: int
    toolTimeoutMs: int
    enabledTools: List[str]
    disabledTools: List[str]


class _PostV2McpServersTestBodyServer2(TypedDict):
    name: str
    transport: Literal["http", "sse"]
    url: str


class PostV2McpServersTestBodyServer2(_PostV2McpServersTestBodyServer2, total=False):
    auth: Literal["oauth"]
    bearerTokenEnvVar: str
    headers: Dict[str, str]
    enabled: bool
    startupTimeoutMs: int
    toolTimeoutMs: int
    enabledTools: List[str]
    disabledTools: List[str]


class PostV2McpServersTestBody(TypedDict, total=False):
    name: str
    server: Union[PostV2McpServersTestBodyServer1, PostV2McpServersTestBodyServer2]
    cwd: str


class PostV2McpServersTestReply(TypedDict):
    success: bool
    output: str


class GetV2SessionsReply1ItemsItem1(TypedDict):
    id: str
    archived: bool


class GetV2SessionsReply1(TypedDict):
    items: List[Union[GetV2SessionsReply1ItemsItem1, ListedSession]]
    total: int
    has_more: bool
    next_page_token: Union[str, None]


class GetV2SessionsReply2GroupsItemWorkspace(TypedDict):
    id: str
    cwd: Union[str, None]


class GetV2SessionsReply2GroupsItemSessionsItem1(TypedDict):
    id: str
    archived: bool


class GetV2SessionsReply2GroupsItem(TypedDict):
    workspace: GetV2SessionsReply2GroupsItemWorkspace
    sessions: List[Union[GetV2SessionsReply2GroupsItemSessionsItem1, ListedSession]]
    total: int


class GetV2SessionsReply2(TypedDict):
    groups: List[GetV2SessionsReply2GroupsItem]
    total: int
    has_more: bool
    next_page_token: Union[str, None]


class PostV2SessionsArchiveBody(TypedDict):
    ids: List[str]


class PostV2SessionsArchiveReplyResultsItem1(TypedDict):
    id: str
    ok: Literal[True]


class PostV2SessionsArchiveReplyResultsItem2Error(TypedDict):
    code: int
    message: str


class PostV2SessionsArchiveReplyResultsItem2(TypedDict):
    id: str
    ok: Literal[False]
    error: PostV2SessionsArchiveReplyResultsItem2Error


class PostV2SessionsArchiveReply(TypedDict):
    results: List[Union[PostV2SessionsArchiveReplyResultsItem1, PostV2SessionsArchiveReplyResultsItem2]]
    succeeded: int
    failed: int


class PostV2SessionsRestoreBody(TypedDict):
    ids: List[str]


class PostV2SessionsRestoreReplyResultsItem1(TypedDict):
    id: str
    ok: Literal[True]


class PostV2SessionsRestoreReplyResultsItem2Error(TypedDict):
    code: int
    message: str


class PostV2SessionsRestoreReplyResultsItem2(TypedDict):
    id: str
    ok: Literal[False]
    error: PostV2SessionsRestoreReplyResultsItem2Error


class PostV2SessionsRestoreReply(TypedDict):
    results: List[Union[PostV2SessionsRestoreReplyResultsItem1, PostV2SessionsRestoreReplyResultsItem2]]
    succeeded: int
    failed: int
