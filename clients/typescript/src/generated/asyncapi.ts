// Generated from /asyncapi.json by `npm run client:types`.

export type paths = Record<string, never>;
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @enum {string} */
        TranscriptGrade: "off" | "turn" | "block" | "delta";
        Session: {
            id: string;
            workspace_id: string;
            title: string;
            created_at: string;
            updated_at: string;
            archived: boolean;
            archived_at?: string;
            busy: boolean;
            main_turn_active: boolean;
            /** @enum {string} */
            pending_interaction: "none" | "approval" | "question";
            /** @enum {string} */
            last_turn_reason?: "completed" | "cancelled" | "failed";
            last_prompt?: string;
            metadata: {
                cwd: string;
            } & {
                [key: string]: unknown;
            };
            agent_config: {
                model: string;
            };
            usage: components["schemas"]["SessionUsage"];
            permission_rules: {
                id: string;
                tool_name: string;
                matcher?: {
                    /** @enum {string} */
                    kind: "command_prefix" | "path_glob" | "exact_input" | "always";
                    value?: unknown;
                };
                /** @constant */
                decision: "approved";
                created_at: string;
                /** @enum {string} */
                created_by: "user" | "agent";
            }[];
            message_count: number;
            last_seq: number;
        };
        SessionUsage: {
            input_tokens: number;
            output_tokens: number;
            cache_read_tokens: number;
            cache_creation_tokens: number;
            total_cost_usd?: number;
            context_tokens: number;
            context_limit?: number;
            turn_count?: number;
        };
        session_event_schema0: {
            code: string;
            message: string;
            name?: string;
            details?: {
                [key: string]: unknown;
            };
            retryable: boolean;
            cause?: components["schemas"]["session_event_schema0"];
        };
        ContentPart: {
            /** @constant */
            type: "text";
            text: string;
        } | {
            /** @constant */
            type: "image";
            source: {
                /** @constant */
                kind: "url";
                url: string;
                id?: string;
            } | {
                /** @constant */
                kind: "base64";
                media_type: string;
                data: string;
            } | {
                /** @constant */
                kind: "file";
                file_id: string;
            } | {
                /** @constant */
                kind: "session_media";
                file_id: string;
            };
        } | {
            /** @constant */
            type: "video";
            source: {
                /** @constant */
                kind: "url";
                url: string;
                id?: string;
            } | {
                /** @constant */
                kind: "base64";
                media_type: string;
                data: string;
            } | {
                /** @constant */
                kind: "file";
                file_id: string;
            } | {
                /** @constant */
                kind: "session_media";
                file_id: string;
            };
        } | {
            /** @constant */
            type: "file";
            file_id: string;
            name: string;
            media_type: string;
            size: number;
        } | {
            /** @constant */
            type: "tool_use";
            tool_call_id: string;
            tool_name: string;
            input?: unknown;
        } | {
            /** @constant */
            type: "tool_result";
            tool_call_id: string;
            output?: unknown;
            is_error?: boolean;
        } | {
            /** @constant */
            type: "thinking";
            thinking: string;
            signature?: string;
        };
        Goal: {
            goalId: string;
            objective: string;
            completionCriterion?: string;
            /** @enum {string} */
            status: "active" | "paused" | "blocked" | "complete";
            turnsUsed: number;
            tokensUsed: number;
            wallClockMs: number;
            budget: {
                tokenBudget: number | null;
                turnBudget: number | null;
                wallClockBudgetMs: number | null;
                remainingTokens: number | null;
                remainingTurns: number | null;
                remainingWallClockMs: number | null;
                tokenBudgetReached: boolean;
                turnBudgetReached: boolean;
                wallClockBudgetReached: boolean;
                overBudget: boolean;
            };
            terminalReason?: string;
        };
        Workspace: {
            id: string;
            root: string;
            name: string;
            created_at: string;
            last_opened_at: string;
            session_count: number;
        };
        Caller: {
            client_name?: string;
            client_id?: string;
            user_agent?: string;
            remote_address?: string;
        };
        Config: {
            providers: {
                [key: string]: {
                    type: string;
                    base_url?: string;
                    default_model?: string;
                    has_api_key: boolean;
                };
            };
            models: {
                [key: string]: components["schemas"]["ModelRecord"];
            };
            default_provider?: string;
            default_model?: string;
            thinking: {
                enabled?: boolean;
                effort?: string;
                forcedEffort?: string;
                keep?: string;
            };
            /** @enum {string} */
            default_permission_mode?: "manual" | "yolo" | "auto";
            yolo?: boolean;
            default_plan_mode: boolean;
            plan_mode?: boolean;
            permission?: {
                rules?: {
                    /** @enum {string} */
                    decision: "allow" | "deny" | "ask";
                    /**
                     * @default user
                     * @enum {string}
                     */
                    scope: "turn-override" | "session-runtime" | "project" | "user";
                    pattern: string;
                    reason?: string;
                }[];
            };
            hooks?: {
                /** @enum {string} */
                event: "PreToolUse" | "PostToolUse" | "PostToolUseFailure" | "PermissionRequest" | "PermissionResult" | "UserPromptSubmit" | "UserPromptQueued" | "TurnStarted" | "Stop" | "StopFailure" | "Interrupt" | "SessionStart" | "SessionEnd" | "SessionHeartbeat" | "SubagentStart" | "SubagentStop" | "TaskStarted" | "PreCompact" | "PostCompact" | "Notification";
                matcher?: string;
                command: string;
                timeout?: number;
            }[];
            services: {
                search?: {
                    baseUrl?: string;
                    apiKey?: string;
                    oauth?: {
                        /** @enum {string} */
                        storage: "file" | "keyring";
                        key: string;
                        oauthHost?: string;
                    };
                    customHeaders?: {
                        [key: string]: string;
                    };
                };
                fetch?: {
                    baseUrl?: string;
                    apiKey?: string;
                    oauth?: {
                        /** @enum {string} */
                        storage: "file" | "keyring";
                        key: string;
                        oauthHost?: string;
                    };
                    customHeaders?: {
                        [key: string]: string;
                    };
                };
            };
            merge_all_available_skills: boolean;
            extra_skill_dirs: string[];
            loop_control: {
                maxStepsPerTurn?: number;
                maxAttemptsPerStep?: number;
                maxRalphIterations?: number;
                reservedContextSize?: number;
                compactionTriggerRatio?: number;
            };
            background: {
                maxRunningTasks?: number;
                keepAliveOnExit?: boolean;
                bashAutoBackgroundOnTimeout?: boolean;
                bashTaskTimeoutS?: number;
                killGracePeriodMs?: number;
                printWaitCeilingS?: number;
                printMaxTurns?: number;
                /** @enum {string} */
                printBackgroundMode?: "exit" | "drain" | "steer";
            };
            subagent: {
                timeoutMs: number;
            };
            secondary_model?: {
                defaultModel?: string;
                models?: {
                    [key: string]: string;
                };
                force?: boolean;
            };
            experimental?: {
                [key: string]: boolean;
            };
            telemetry?: boolean;
            auto_session_title?: boolean;
            raw: {
                [key: string]: unknown;
            };
            builtin_product_skills: boolean;
            extra_agent_dirs: string[];
            identity: {
                name?: string;
                slug?: string;
            };
            image: {
                maxEdgePx?: number;
                readByteBudget?: number;
            };
            mcp: {
                startupTimeoutMs?: number;
                toolTimeoutMs?: number;
            };
            tools?: {
                enabled?: string[];
                disabled?: string[];
            };
            token_counting: {
                /** @enum {string} */
                strategy: "measured+estimated" | "measured" | "estimated";
            };
            model_catalog?: {
                refreshIntervalMs?: number;
                refreshOnStart?: boolean;
            };
            cron: {
                debug?: boolean;
                noJitter?: boolean;
                noStale?: boolean;
                disabled?: boolean;
                manualTick?: boolean;
                clock?: string;
                pollIntervalMs?: number | null;
            };
        } & {
            [key: string]: unknown;
        };
        ModelRecord: {
            provider?: string;
            providerId?: string;
            model?: string;
            name?: string;
            maxContextSize?: number;
            maxInputSize?: number;
            maxOutputSize?: number;
            capabilities?: string[];
            displayName?: string;
            reasoningKey?: string;
            adaptiveThinking?: boolean;
            supportEfforts?: string[];
            defaultEffort?: string;
            offEffort?: string;
            cost?: {
                input: number;
                output: number;
                cacheRead?: number;
                cacheWrite?: number;
            };
            aliases?: string[];
            baseUrl?: string;
            apiKey?: string;
            oauth?: {
                /** @enum {string} */
                storage: "file" | "keyring";
                key: string;
                oauthHost?: string;
            };
            /** @enum {string} */
            protocol?: "openai" | "openai_responses" | "anthropic" | "google-genai";
            betaApi?: boolean;
            upgrade?: unknown;
            overrides?: {
                maxContextSize?: number;
                maxInputSize?: number;
                maxOutputSize?: number;
                capabilities?: string[];
                displayName?: string;
                reasoningKey?: string;
                adaptiveThinking?: boolean;
                supportEfforts?: string[];
                defaultEffort?: string;
                offEffort?: string;
                cost?: {
                    input: number;
                    output: number;
                    cacheRead?: number;
                    cacheWrite?: number;
                };
            };
        } & {
            [key: string]: unknown;
        };
        CapabilityInstall: {
            running: boolean;
            step?: string;
            percent?: number;
            error?: string;
            note?: string;
        };
        TranscriptItem: {
            /** @constant */
            kind: "turn";
            turnId: string;
            ordinal: number;
            /** @enum {string} */
            state: "queued" | "running" | "completed" | "failed" | "cancelled";
            origin: components["schemas"]["TurnOrigin"];
            prompt?: string;
            attachmentIds?: string[];
            startedAt?: string;
            endedAt?: string;
            usage?: {
                inputTokens?: number;
                outputTokens?: number;
                cachedTokens?: number;
                cost?: number;
            };
            durationMs?: number;
            error?: string;
            steps: components["schemas"]["TranscriptStep"][];
        } | {
            /** @constant */
            kind: "marker";
            markerId: string;
            marker: string;
            payload?: unknown;
            at?: string;
        } | {
            /** @constant */
            kind: "taskref";
            refId: string;
            taskId: string;
            at?: string;
        };
        TurnOrigin: {
            /** @constant */
            kind: "user";
            payload?: components["schemas"]["Origin"];
        } | {
            /** @constant */
            kind: "cron";
            taskId?: string;
            payload?: components["schemas"]["Origin"];
        } | {
            /** @constant */
            kind: "task";
            taskId: string;
            payload?: components["schemas"]["Origin"];
        } | {
            /** @constant */
            kind: "hook";
            payload?: components["schemas"]["Origin"];
        } | {
            /** @constant */
            kind: "compaction";
            payload?: components["schemas"]["Origin"];
        } | {
            /** @constant */
            kind: "side";
            payload?: components["schemas"]["Origin"];
        } | {
            /** @constant */
            kind: "other";
            payload?: components["schemas"]["Origin"];
        };
        Origin: {
            /** @constant */
            kind: "user";
            skillActivations?: {
                activationId: string;
                skillName: string;
                skillArgs?: string;
                skillType?: string;
                skillPath?: string;
                skillSource?: string;
            }[];
        } | {
            activationId: string;
            skillName: string;
            skillArgs?: string;
            skillType?: string;
            skillPath?: string;
            skillSource?: string;
            /** @constant */
            kind: "skill_activation";
            /** @enum {string} */
            trigger: "user-slash" | "model-tool" | "nested-skill";
        } | {
            /** @constant */
            kind: "plugin_command";
            activationId: string;
            pluginId: string;
            commandName: string;
            commandArgs?: string;
            /** @constant */
            trigger: "user-slash";
        } | {
            /** @constant */
            kind: "injection";
            variant: string;
            ownerPromptId?: string;
            disclosure?: unknown;
        } | {
            /** @constant */
            kind: "shell_command";
            /** @enum {string} */
            phase: "input" | "output";
            isError?: boolean;
        } | {
            /** @constant */
            kind: "compaction_summary";
        } | {
            /** @constant */
            kind: "system_trigger";
            name: string;
        } | {
            /** @constant */
            kind: "task";
            taskId: string;
            status: string;
            notificationId: string;
        } | {
            /** @constant */
            kind: "cron_job";
            jobId: string;
            cron: string;
            recurring: boolean;
            coalescedCount: number;
            stale: boolean;
        } | {
            /** @constant */
            kind: "cron_missed";
            count: number;
        } | {
            /** @constant */
            kind: "hook_result";
            event: string;
            blocked?: boolean;
            ownerPromptId?: string;
        } | {
            /** @constant */
            kind: "retry";
            trigger?: string;
        };
        TranscriptStep: {
            /** @constant */
            kind: "step";
            stepId: string;
            turnId: string;
            ordinal: number;
            /** @enum {string} */
            state: "running" | "completed" | "interrupted" | "failed";
            startedAt?: string;
            endedAt?: string;
            usage?: {
                inputOther: number;
                output: number;
                inputCacheRead: number;
                inputCacheCreation: number;
            };
            finishReason?: string;
            timing?: {
                llmFirstTokenLatencyMs?: number;
                llmStreamDurationMs?: number;
                llmRequestBuildMs?: number;
                llmServerFirstTokenMs?: number;
                llmServerDecodeMs?: number;
                llmClientConsumeMs?: number;
            };
            retry?: {
                failedAttempt: number;
                nextAttempt: number;
                maxAttempts: number;
                delayMs: number;
                errorName: string;
                errorMessage: string;
                statusCode?: number;
            };
            endReason?: string;
            endMessage?: string;
            frames: components["schemas"]["TranscriptFrame"][];
        };
        TranscriptFrame: {
            /** @constant */
            kind: "text";
            frameId: string;
            /** @enum {string} */
            role: "assistant" | "user";
            text: string;
            attachmentIds?: string[];
            taskId?: string;
        } | {
            /** @constant */
            kind: "thinking";
            frameId: string;
            text: string;
        } | {
            /** @constant */
            kind: "tool";
            frameId: string;
            toolCallId: string;
            name: string;
            view?: string;
            /** @enum {string} */
            state: "running" | "done" | "error";
            input?: unknown;
            output?: unknown;
            display?: unknown;
            error?: string;
            inputText?: string;
            progress?: {
                /** @enum {string} */
                kind: "stdout" | "stderr" | "progress" | "status" | "custom";
                text?: string;
                percent?: number;
                customKind?: string;
                customData?: unknown;
            };
            taskId?: string;
            approvalId?: string;
            todoId?: string;
            agentRefs?: {
                agentId: string;
                /** @enum {string} */
                role?: "child" | "member";
            }[];
        } | {
            /** @constant */
            kind: "notice";
            frameId: string;
            /** @enum {string} */
            level: "error" | "warning" | "info";
            source?: string;
            message: string;
            detail?: unknown;
        };
        TranscriptTask: {
            taskId: string;
            /** @enum {string} */
            kind: "shell" | "subagent" | "tool" | "other";
            /** @enum {string} */
            state: "running" | "completed" | "failed" | "timed_out" | "killed" | "lost";
            detached: boolean;
            description?: string;
            agentId?: string;
            outputTail: string;
            startedAt?: string;
            endedAt?: string;
            resultSummary?: string;
            error?: string;
            stateReason?: string;
            usage?: {
                inputOther: number;
                output: number;
                inputCacheRead: number;
                inputCacheCreation: number;
            };
        };
        TranscriptInteraction: {
            interactionId: string;
            /** @enum {string} */
            interactionKind: "approval" | "question";
            toolCallId?: string;
            /** @enum {string} */
            state: "pending" | "approved" | "rejected" | "cancelled" | "answered" | "dismissed";
            request?: unknown;
            response?: unknown;
            answeredBy?: components["schemas"]["TranscriptCaller"];
        };
        TranscriptCaller: {
            clientName?: string;
            clientId?: string;
            userAgent?: string;
            remoteAddress?: string;
        };
        TranscriptAttachment: {
            attachmentId: string;
            mediaType: string;
            name?: string;
            size?: number;
            placeholder?: string;
            source?: {
                /** @constant */
                kind: "url";
                url: string;
            } | {
                /** @constant */
                kind: "file";
                fileId: string;
            } | {
                /** @constant */
                kind: "session_media";
                fileId: string;
            };
        };
        TranscriptTodo: {
            todoId: string;
            items: {
                title: string;
                /** @enum {string} */
                status: "pending" | "in_progress" | "done";
            }[];
            updatedAt?: string;
        };
        TranscriptPrompt: {
            promptId: string;
            /** @enum {string} */
            status: "running" | "queued" | "blocked" | "completed" | "failed" | "aborted";
            userMessageId?: string;
            content?: components["schemas"]["ContentPart"][];
            createdAt: string;
            finishedAt?: string;
            steeredAt?: string;
        };
        TranscriptMeta: {
            goal?: {
                objective: string;
                /** @enum {string} */
                status: "active" | "paused" | "blocked" | "complete";
                completionCriterion?: string;
                budgetUsed?: number;
                budgetLimit?: number;
            };
            modes?: {
                plan?: {
                    reviewPath?: string;
                    version?: number;
                };
                swarm?: {
                    trigger?: string;
                };
            };
            /** @enum {string} */
            activity?: "idle" | "turn" | "disposing" | "unknown";
            agent?: components["schemas"]["TranscriptAgentFacts"];
            settingsChanges?: components["schemas"]["TranscriptSettingsChange"][];
        };
        TranscriptAgentFacts: {
            model?: string;
            thinkingEffort?: string;
            usage?: {
                byModel?: {
                    [key: string]: {
                        inputOther: number;
                        output: number;
                        inputCacheRead: number;
                        inputCacheCreation: number;
                    };
                };
                total?: {
                    inputOther: number;
                    output: number;
                    inputCacheRead: number;
                    inputCacheCreation: number;
                };
                currentTurn?: {
                    inputOther: number;
                    output: number;
                    inputCacheRead: number;
                    inputCacheCreation: number;
                };
            };
            contextTokens?: number;
            maxContextTokens?: number;
            contextUsage?: number;
            /** @enum {string} */
            permission?: "manual" | "yolo" | "auto";
            permissionBy?: components["schemas"]["TranscriptCaller"];
            phase?: {
                /** @constant */
                kind: "idle";
            } | {
                /** @constant */
                kind: "running";
                turnId: number;
                step: number;
                /** @constant */
                stepId: "";
                since: number;
            } | {
                /** @constant */
                kind: "streaming";
                turnId: number;
                step: number;
                /** @constant */
                stepId: "";
                /** @enum {string} */
                stream: "assistant" | "thinking" | "tool_call";
                since: number;
            } | {
                /** @constant */
                kind: "tool_call";
                turnId: number;
                step: number;
                toolCallId: string;
                name: string;
                since: number;
            } | {
                /** @constant */
                kind: "retrying";
                turnId: number;
                step: number;
                /** @constant */
                stepId: "";
                failedAttempt: number;
                nextAttempt: number;
                maxAttempts: number;
                delayMs: number;
                errorName?: string;
                statusCode?: number;
                since: number;
            } | {
                /** @constant */
                kind: "awaiting_approval";
                turnId: number;
                step?: number;
                approval: {
                    approvalId: string;
                    toolCallId: string;
                };
                since: number;
            } | {
                /** @constant */
                kind: "interrupted";
                turnId: number;
                step?: number;
                /** @enum {string} */
                reason: "aborted" | "max_steps" | "error";
                at: number;
            } | {
                /** @constant */
                kind: "ended";
                turnId: number;
                /** @enum {string} */
                reason: "completed" | "cancelled" | "failed" | "blocked";
                durationMs?: number;
                at: number;
            };
        };
        TranscriptSettingsChange: {
            id: string;
            message: string;
            at: string;
        };
        TranscriptOp: {
            /** @constant */
            op: "turn.upsert";
            turn: components["schemas"]["TranscriptTurnHeader"];
        } | {
            /** @constant */
            op: "step.upsert";
            turnId: string;
            step: components["schemas"]["TranscriptStepHeader"];
        } | {
            /** @constant */
            op: "frame.upsert";
            turnId: string;
            stepId: string;
            frame: components["schemas"]["TranscriptFrame"];
        } | {
            /** @constant */
            op: "append";
            target: {
                /** @constant */
                type: "frame";
                turnId: string;
                stepId: string;
                frameId: string;
            } | {
                /** @constant */
                type: "task";
                taskId: string;
            };
            offset: number;
            text: string;
        } | {
            /** @constant */
            op: "marker.upsert";
            item: {
                /** @constant */
                kind: "marker";
                markerId: string;
                marker: string;
                payload?: unknown;
                at?: string;
            };
            beforeTurn?: number;
        } | {
            /** @constant */
            op: "taskref.upsert";
            item: {
                /** @constant */
                kind: "taskref";
                refId: string;
                taskId: string;
                at?: string;
            };
            beforeTurn?: number;
        } | {
            /** @constant */
            op: "task.upsert";
            task: components["schemas"]["TranscriptTask"];
        } | {
            /** @constant */
            op: "interaction.upsert";
            interaction: components["schemas"]["TranscriptInteraction"];
        } | {
            /** @constant */
            op: "attachment.upsert";
            attachment: components["schemas"]["TranscriptAttachment"];
        } | {
            /** @constant */
            op: "todo.upsert";
            todo: components["schemas"]["TranscriptTodo"];
        } | {
            /** @constant */
            op: "prompt.upsert";
            prompt: components["schemas"]["TranscriptPrompt"];
        } | {
            /** @constant */
            op: "meta.merge";
            meta: {
                goal?: {
                    objective: string;
                    /** @enum {string} */
                    status: "active" | "paused" | "blocked" | "complete";
                    completionCriterion?: string;
                    budgetUsed?: number;
                    budgetLimit?: number;
                } | null;
                modes?: {
                    plan?: {
                        reviewPath?: string;
                        version?: number;
                    } | null;
                    swarm?: {
                        trigger?: string;
                    } | null;
                };
                /** @enum {string} */
                activity?: "idle" | "turn" | "disposing" | "unknown";
                agent?: components["schemas"]["TranscriptAgentFacts"];
                settingsChanges?: components["schemas"]["TranscriptSettingsChange"][];
            };
        } | {
            /** @constant */
            op: "items.remove";
            ids: string[];
        } | {
            /** @constant */
            op: "reset";
            agentId: string;
            snapshot: {
                items: components["schemas"]["TranscriptItem"][];
                tasks: components["schemas"]["TranscriptTask"][];
                /** @default [] */
                interactions: components["schemas"]["TranscriptInteraction"][];
                /** @default [] */
                attachments: components["schemas"]["TranscriptAttachment"][];
                /** @default [] */
                todos: components["schemas"]["TranscriptTodo"][];
                /** @default [] */
                prompts: components["schemas"]["TranscriptPrompt"][];
                meta: components["schemas"]["TranscriptMeta"];
                hasMoreOlder?: boolean;
            };
        };
        TranscriptTurnHeader: {
            /** @constant */
            kind: "turn";
            turnId: string;
            ordinal: number;
            /** @enum {string} */
            state: "queued" | "running" | "completed" | "failed" | "cancelled";
            origin: components["schemas"]["TurnOrigin"];
            prompt?: string;
            attachmentIds?: string[];
            startedAt?: string;
            endedAt?: string;
            usage?: {
                inputTokens?: number;
                outputTokens?: number;
                cachedTokens?: number;
                cost?: number;
            };
            durationMs?: number;
            error?: string;
        };
        TranscriptStepHeader: {
            /** @constant */
            kind: "step";
            stepId: string;
            turnId: string;
            ordinal: number;
            /** @enum {string} */
            state: "running" | "completed" | "interrupted" | "failed";
            startedAt?: string;
            endedAt?: string;
            usage?: {
                inputOther: number;
                output: number;
                inputCacheRead: number;
                inputCacheCreation: number;
            };
            finishReason?: string;
            timing?: {
                llmFirstTokenLatencyMs?: number;
                llmStreamDurationMs?: number;
                llmRequestBuildMs?: number;
                llmServerFirstTokenMs?: number;
                llmServerDecodeMs?: number;
                llmClientConsumeMs?: number;
            };
            retry?: {
                failedAttempt: number;
                nextAttempt: number;
                maxAttempts: number;
                delayMs: number;
                errorName: string;
                errorMessage: string;
                statusCode?: number;
            };
            endReason?: string;
            endMessage?: string;
        };
        client_hello: {
            /** @constant */
            type: "client_hello";
            id?: string | number;
            payload?: {
                client_id?: string;
                subscriptions?: string[];
                cursors?: {
                    [key: string]: {
                        seq: number;
                        epoch?: string;
                    };
                };
                agent_filter?: {
                    [key: string]: string[];
                };
                token?: string;
            };
        };
        client_hello_ack: {
            /** @constant */
            type: "ack";
            id: string | number;
            /** @constant */
            code: 0;
            /** @constant */
            msg: "success";
            payload: {
                accepted_subscriptions: string[];
                resync_required: string[];
                cursors: {
                    [key: string]: {
                        seq: number;
                        epoch: string;
                    };
                };
            };
        } | {
            /** @constant */
            type: "ack";
            id: string | number;
            code: number;
            msg: string;
            payload: {
                details: {
                    path: string;
                    message: string;
                }[];
            } | {
                message: string;
            } | Record<string, never>;
        };
        subscribe: {
            /** @constant */
            type: "subscribe";
            id?: string | number;
            payload: {
                session_ids: string[];
                cursors?: {
                    [key: string]: {
                        seq: number;
                        epoch?: string;
                    };
                };
                agent_filter?: {
                    [key: string]: string[];
                };
            };
        };
        subscribe_ack: {
            /** @constant */
            type: "ack";
            id: string | number;
            /** @constant */
            code: 0;
            /** @constant */
            msg: "success";
            payload: {
                accepted: string[];
                not_found: string[];
                resync_required: string[];
                cursors: {
                    [key: string]: {
                        seq: number;
                        epoch: string;
                    };
                };
            };
        } | {
            /** @constant */
            type: "ack";
            id: string | number;
            code: number;
            msg: string;
            payload: {
                details: {
                    path: string;
                    message: string;
                }[];
            } | {
                message: string;
            } | Record<string, never>;
        };
        unsubscribe: {
            /** @constant */
            type: "unsubscribe";
            id?: string | number;
            payload: {
                session_ids: string[];
            };
        };
        unsubscribe_ack: {
            /** @constant */
            type: "ack";
            id: string | number;
            /** @constant */
            code: 0;
            /** @constant */
            msg: "success";
            payload: {
                accepted: string[];
                not_found: string[];
                resync_required: string[];
            };
        } | {
            /** @constant */
            type: "ack";
            id: string | number;
            code: number;
            msg: string;
            payload: {
                details: {
                    path: string;
                    message: string;
                }[];
            } | {
                message: string;
            } | Record<string, never>;
        };
        subscribe_v2: {
            /** @constant */
            type: "subscribe_v2";
            id?: string | number;
            payload: {
                session_id: string;
                transcript: {
                    [key: string]: components["schemas"]["TranscriptGrade"];
                };
                transcript_since?: {
                    [key: string]: number;
                };
            };
        };
        subscribe_v2_ack: {
            /** @constant */
            type: "ack";
            id: string | number;
            /** @constant */
            code: 0;
            /** @constant */
            msg: "success";
            payload: {
                accepted: string[];
                not_found: string[];
                resync_required: string[];
                cursors: {
                    [key: string]: {
                        seq: number;
                        epoch: string;
                    };
                };
            };
        } | {
            /** @constant */
            type: "ack";
            id: string | number;
            code: number;
            msg: string;
            payload: {
                details: {
                    path: string;
                    message: string;
                }[];
            } | {
                message: string;
            } | Record<string, never>;
        };
        unsubscribe_v2: {
            /** @constant */
            type: "unsubscribe_v2";
            id?: string | number;
            payload: {
                session_id: string;
                agent_ids?: string[];
            };
        };
        unsubscribe_v2_ack: {
            /** @constant */
            type: "ack";
            id: string | number;
            /** @constant */
            code: 0;
            /** @constant */
            msg: "success";
            payload: {
                accepted: string[];
                not_found: string[];
                resync_required: string[];
            };
        } | {
            /** @constant */
            type: "ack";
            id: string | number;
            code: number;
            msg: string;
            payload: {
                details: {
                    path: string;
                    message: string;
                }[];
            } | {
                message: string;
            } | Record<string, never>;
        };
        abort: {
            /** @constant */
            type: "abort";
            id?: string | number;
            payload: {
                session_id: string;
                prompt_id: string;
            };
        };
        abort_ack: {
            /** @constant */
            type: "ack";
            id: string | number;
            /** @constant */
            code: 0;
            /** @constant */
            msg: "success";
            payload: {
                /** @constant */
                aborted: true;
                at_seq: number;
            };
        } | {
            /** @constant */
            type: "ack";
            id: string | number;
            code: number;
            msg: string;
            payload: {
                details: {
                    path: string;
                    message: string;
                }[];
            } | {
                message: string;
            } | {
                /** @constant */
                aborted: false;
            } | Record<string, never>;
        };
        watch_fs_add: {
            /** @constant */
            type: "watch_fs_add";
            id?: string | number;
            payload: {
                session_id: string;
                paths: string[];
                /** @default local */
                runtime_id?: string;
                /** @default true */
                recursive?: boolean;
            };
        };
        watch_fs_add_ack: {
            /** @constant */
            type: "ack";
            id: string | number;
            /** @constant */
            code: 0;
            /** @constant */
            msg: "success";
            payload: {
                watched_paths: string[];
                current_count: number;
            };
        } | {
            /** @constant */
            type: "ack";
            id: string | number;
            code: number;
            msg: string;
            payload: {
                details: {
                    path: string;
                    message: string;
                }[];
            } | {
                message: string;
            } | {
                watched_paths: unknown[];
                /** @constant */
                current_count: 0;
            } | Record<string, never>;
        };
        watch_fs_remove: {
            /** @constant */
            type: "watch_fs_remove";
            id?: string | number;
            payload: {
                session_id: string;
                paths: string[];
                /** @default local */
                runtime_id?: string;
            };
        };
        watch_fs_remove_ack: {
            /** @constant */
            type: "ack";
            id: string | number;
            /** @constant */
            code: 0;
            /** @constant */
            msg: "success";
            payload: {
                watched_paths: string[];
                current_count: number;
            };
        } | {
            /** @constant */
            type: "ack";
            id: string | number;
            code: number;
            msg: string;
            payload: {
                details: {
                    path: string;
                    message: string;
                }[];
            } | {
                message: string;
            } | {
                watched_paths: unknown[];
                /** @constant */
                current_count: 0;
            } | Record<string, never>;
        };
        terminal_attach: {
            /** @constant */
            type: "terminal_attach";
            id?: string | number;
            payload: {
                session_id: string;
                terminal_id: string;
                /** @default 0 */
                since_seq?: number;
            };
        };
        terminal_attach_ack: {
            /** @constant */
            type: "ack";
            id: string | number;
            /** @constant */
            code: 0;
            /** @constant */
            msg: "success";
            payload: {
                /** @constant */
                attached: true;
                replayed: number;
            };
        } | {
            /** @constant */
            type: "ack";
            id: string | number;
            code: number;
            msg: string;
            payload: {
                details: {
                    path: string;
                    message: string;
                }[];
            } | {
                message: string;
            } | Record<string, never>;
        };
        terminal_detach: {
            /** @constant */
            type: "terminal_detach";
            id?: string | number;
            payload: {
                session_id: string;
                terminal_id: string;
            };
        };
        terminal_detach_ack: {
            /** @constant */
            type: "ack";
            id: string | number;
            /** @constant */
            code: 0;
            /** @constant */
            msg: "success";
            payload: {
                /** @constant */
                detached: true;
            };
        } | {
            /** @constant */
            type: "ack";
            id: string | number;
            code: number;
            msg: string;
            payload: {
                details: {
                    path: string;
                    message: string;
                }[];
            } | {
                message: string;
            } | Record<string, never>;
        };
        terminal_input: {
            /** @constant */
            type: "terminal_input";
            id?: string | number;
            payload: {
                session_id: string;
                terminal_id: string;
                data: string;
            };
        };
        terminal_input_ack: {
            /** @constant */
            type: "ack";
            id: string | number;
            /** @constant */
            code: 0;
            /** @constant */
            msg: "success";
            payload: {
                /** @constant */
                accepted: true;
            };
        } | {
            /** @constant */
            type: "ack";
            id: string | number;
            code: number;
            msg: string;
            payload: {
                details: {
                    path: string;
                    message: string;
                }[];
            } | {
                message: string;
            } | Record<string, never>;
        };
        terminal_resize: {
            /** @constant */
            type: "terminal_resize";
            id?: string | number;
            payload: {
                session_id: string;
                terminal_id: string;
                cols: number;
                rows: number;
            };
        };
        terminal_resize_ack: {
            /** @constant */
            type: "ack";
            id: string | number;
            /** @constant */
            code: 0;
            /** @constant */
            msg: "success";
            payload: {
                /** @constant */
                resized: true;
            };
        } | {
            /** @constant */
            type: "ack";
            id: string | number;
            code: number;
            msg: string;
            payload: {
                details: {
                    path: string;
                    message: string;
                }[];
            } | {
                message: string;
            } | Record<string, never>;
        };
        terminal_close: {
            /** @constant */
            type: "terminal_close";
            id?: string | number;
            payload: {
                session_id: string;
                terminal_id: string;
            };
        };
        terminal_close_ack: {
            /** @constant */
            type: "ack";
            id: string | number;
            /** @constant */
            code: 0;
            /** @constant */
            msg: "success";
            payload: {
                /** @constant */
                closed: true;
            };
        } | {
            /** @constant */
            type: "ack";
            id: string | number;
            code: number;
            msg: string;
            payload: {
                details: {
                    path: string;
                    message: string;
                }[];
            } | {
                message: string;
            } | Record<string, never>;
        };
        server_hello: {
            /** @constant */
            type: "server_hello";
            timestamp: string;
            payload: {
                ws_connection_id: string;
                /** @constant */
                protocol_version: 2;
                max_event_buffer_size: number;
                capabilities: {
                    event_batching: boolean;
                    compression: boolean;
                };
            };
        };
        resync_required: {
            /** @constant */
            type: "resync_required";
            timestamp: string;
            payload: {
                session_id: string;
                /** @enum {string} */
                reason: "buffer_overflow" | "session_recreated" | "epoch_changed";
                current_seq: number;
                epoch?: string;
            };
        };
        error: {
            /** @constant */
            type: "error";
            timestamp: string;
            payload: {
                code: number;
                msg: string;
                fatal: boolean;
                request_id?: string;
                details?: unknown;
            };
        };
        event_fs_changed: {
            /** @constant */
            type: "event.fs.changed";
            seq: number;
            session_id: string;
            timestamp: string;
            /** @constant */
            volatile: true;
            payload: {
                changes: {
                    path: string;
                    /** @enum {string} */
                    change: "created" | "modified" | "deleted";
                    /** @enum {string} */
                    kind: "file" | "directory" | "symlink";
                    size_delta?: number;
                    etag?: string;
                }[];
                coalesced_window_ms: number;
                /** @constant */
                truncated?: true;
                count?: number;
            };
        };
        terminal_output: {
            /** @constant */
            type: "terminal_output";
            seq: number;
            session_id: string;
            terminal_id: string;
            timestamp: string;
            payload: {
                data: string;
            };
        };
        terminal_exit: {
            /** @constant */
            type: "terminal_exit";
            session_id: string;
            terminal_id: string;
            timestamp: string;
            payload: {
                exit_code: number | null;
            };
        };
        terminal_resized: {
            /** @constant */
            type: "terminal_resized";
            session_id: string;
            terminal_id: string;
            timestamp: string;
            payload: {
                cols: number;
                rows: number;
            };
        };
        session_event: {
            type: string;
            seq: number;
            session_id?: string;
            timestamp: string;
            payload: {
                session: components["schemas"]["Session"];
                /** @constant */
                type: "event.session.created";
                agentId: string;
                sessionId: string;
            } | {
                busy: boolean;
                main_turn_active: boolean;
                /** @enum {string} */
                pending_interaction: "none" | "approval" | "question";
                /** @enum {string} */
                last_turn_reason?: "completed" | "cancelled" | "failed";
                /** @constant */
                type: "event.session.work_changed";
                agentId: string;
                sessionId: string;
            } | {
                title?: string;
                patch: {
                    title?: string;
                    isCustomTitle?: boolean;
                    lastPrompt?: string;
                };
                /** @constant */
                type: "session.meta.updated";
                agentId: string;
                sessionId: string;
            } | {
                /** @constant */
                type: "agent.created";
                agentId: string;
                sessionId: string;
            } | {
                /** @constant */
                type: "agent.disposed";
                agentId: string;
                sessionId: string;
            } | (components["schemas"]["session_event_schema0"] & {
                /** @constant */
                type: "error";
                time: number;
                agentId: string;
                sessionId: string;
            }) | {
                message: string;
                code?: string;
                /** @constant */
                type: "warning";
                time: number;
                agentId: string;
                sessionId: string;
            } | {
                promptId: string;
                userMessageId: string;
                /** @enum {string} */
                status: "running" | "queued" | "blocked";
                content: components["schemas"]["ContentPart"][];
                createdAt: string;
                /** @constant */
                type: "prompt.submitted";
                time: number;
                agentId: string;
                sessionId: string;
            } | {
                promptId: string;
                content: components["schemas"]["ContentPart"][];
                queueLength: number;
                /** @constant */
                type: "prompt.queued";
                time: number;
                agentId: string;
                sessionId: string;
            } | {
                promptId: string;
                /** @constant */
                type: "prompt.started";
                time: number;
                agentId: string;
                sessionId: string;
            } | {
                activePromptId: string;
                promptIds: string[];
                messageId: string;
                content: components["schemas"]["ContentPart"][];
                steeredAt: string;
                /** @constant */
                type: "prompt.steered";
                time: number;
                agentId: string;
                sessionId: string;
            } | {
                promptId: string;
                finishedAt: string;
                /** @enum {string} */
                reason: "completed" | "failed" | "blocked";
                /** @constant */
                type: "prompt.completed";
                time: number;
                agentId: string;
                sessionId: string;
            } | {
                promptId: string;
                abortedAt: string;
                /** @constant */
                type: "prompt.aborted";
                time: number;
                agentId: string;
                sessionId: string;
            } | {
                turnId: number;
                promptId?: string;
                origin: {
                    /** @constant */
                    kind: "user";
                    skillActivations?: {
                        activationId: string;
                        skillName: string;
                        skillArgs?: string;
                        skillType?: string;
                        skillPath?: string;
                        skillSource?: string;
                    }[];
                } | {
                    activationId: string;
                    skillName: string;
                    skillArgs?: string;
                    skillType?: string;
                    skillPath?: string;
                    skillSource?: string;
                    /** @constant */
                    kind: "skill_activation";
                    /** @enum {string} */
                    trigger: "user-slash" | "model-tool" | "nested-skill";
                } | {
                    /** @constant */
                    kind: "plugin_command";
                    activationId: string;
                    pluginId: string;
                    commandName: string;
                    commandArgs?: string;
                    /** @constant */
                    trigger: "user-slash";
                } | {
                    /** @constant */
                    kind: "injection";
                    variant: string;
                    ownerPromptId?: string;
                    disclosure?: unknown;
                } | {
                    /** @constant */
                    kind: "shell_command";
                    /** @enum {string} */
                    phase: "input" | "output";
                    isError?: boolean;
                } | {
                    /** @constant */
                    kind: "compaction_summary";
                } | {
                    /** @constant */
                    kind: "system_trigger";
                    name: string;
                } | {
                    /** @constant */
                    kind: "task";
                    taskId: string;
                    status: string;
                    notificationId: string;
                } | {
                    /** @constant */
                    kind: "cron_job";
                    jobId: string;
                    cron: string;
                    recurring: boolean;
                    coalescedCount: number;
                    stale: boolean;
                } | {
                    /** @constant */
                    kind: "cron_missed";
                    count: number;
                } | {
                    /** @constant */
                    kind: "hook_result";
                    event: string;
                    blocked?: boolean;
                    ownerPromptId?: string;
                } | {
                    /** @constant */
                    kind: "retry";
                    trigger?: string;
                };
                prompt?: string;
                /** @constant */
                type: "turn.started";
                time: number;
                agentId: string;
                sessionId: string;
            } | {
                turnId: number;
                step: number;
                stepId: string;
                /** @constant */
                type: "turn.step.started";
                time: number;
                agentId: string;
                sessionId: string;
            } | {
                turnId: number;
                step: number;
                stepId: string;
                usage?: {
                    inputOther: number;
                    output: number;
                    inputCacheRead: number;
                    inputCacheCreation: number;
                };
                finishReason: string;
                providerFinishReason?: string;
                rawFinishReason?: string;
                llmFirstTokenLatencyMs?: number;
                llmStreamDurationMs?: number;
                llmRequestBuildMs?: number;
                llmServerFirstTokenMs?: number;
                llmServerDecodeMs?: number;
                llmClientConsumeMs?: number;
                /** @constant */
                type: "turn.step.completed";
                time: number;
                agentId: string;
                sessionId: string;
            } | {
                turnId: number;
                step: number;
                stepId: string;
                failedAttempt: number;
                nextAttempt: number;
                maxAttempts: number;
                delayMs: number;
                errorName: string;
                errorMessage: string;
                statusCode?: number;
                /** @constant */
                type: "turn.step.retrying";
                time: number;
                agentId: string;
                sessionId: string;
            } | {
                turnId: number;
                step: number;
                stepId?: string;
                /** @enum {string} */
                reason: "aborted" | "max_steps" | "error";
                message?: string;
                /** @constant */
                type: "turn.step.interrupted";
                time: number;
                agentId: string;
                sessionId: string;
            } | {
                turnId: number;
                /** @enum {string} */
                reason: "completed" | "cancelled" | "failed" | "blocked";
                durationMs?: number;
                error?: components["schemas"]["session_event_schema0"];
                /** @enum {string} */
                interruptReason?: "user_cancelled" | "aborted" | "max_steps" | "error" | "filtered" | "blocked";
                /** @constant */
                type: "turn.ended";
                time: number;
                agentId: string;
                sessionId: string;
            } | {
                start: number;
                deleteCount: number;
                messages: {
                    /** @enum {string} */
                    role: "system" | "user" | "assistant" | "tool";
                    content: ({
                        /** @constant */
                        type: "text";
                        text: string;
                    } | {
                        /** @constant */
                        type: "think";
                        think: string;
                        encrypted?: string;
                        format?: string;
                    } | {
                        /** @constant */
                        type: "image_url";
                        imageUrl: {
                            url: string;
                            id?: string;
                        };
                    } | {
                        /** @constant */
                        type: "audio_url";
                        audioUrl: {
                            url: string;
                            id?: string;
                        };
                    } | {
                        /** @constant */
                        type: "video_url";
                        videoUrl: {
                            url: string;
                            id?: string;
                        };
                    })[];
                    toolCalls: {
                        id: string;
                        name: string;
                        arguments: string | null;
                        extras?: {
                            [key: string]: unknown;
                        };
                    }[];
                    toolCallId?: string;
                    isError?: boolean;
                    note?: string;
                    tools?: {
                        name: string;
                        description: string;
                        parameters: {
                            [key: string]: unknown;
                        };
                    }[];
                    origin?: {
                        /** @constant */
                        kind: "user";
                        skillActivations?: {
                            activationId: string;
                            skillName: string;
                            skillArgs?: string;
                            skillType?: string;
                            skillPath?: string;
                            skillSource?: string;
                        }[];
                    } | {
                        activationId: string;
                        skillName: string;
                        skillArgs?: string;
                        skillType?: string;
                        skillPath?: string;
                        skillSource?: string;
                        /** @constant */
                        kind: "skill_activation";
                        /** @enum {string} */
                        trigger: "user-slash" | "model-tool" | "nested-skill";
                    } | {
                        /** @constant */
                        kind: "plugin_command";
                        activationId: string;
                        pluginId: string;
                        commandName: string;
                        commandArgs?: string;
                        /** @constant */
                        trigger: "user-slash";
                    } | {
                        /** @constant */
                        kind: "injection";
                        variant: string;
                        ownerPromptId?: string;
                        disclosure?: unknown;
                    } | {
                        /** @constant */
                        kind: "shell_command";
                        /** @enum {string} */
                        phase: "input" | "output";
                        isError?: boolean;
                    } | {
                        /** @constant */
                        kind: "compaction_summary";
                    } | {
                        /** @constant */
                        kind: "system_trigger";
                        name: string;
                    } | {
                        /** @constant */
                        kind: "task";
                        taskId: string;
                        status: string;
                        notificationId: string;
                    } | {
                        /** @constant */
                        kind: "cron_job";
                        jobId: string;
                        cron: string;
                        recurring: boolean;
                        coalescedCount: number;
                        stale: boolean;
                    } | {
                        /** @constant */
                        kind: "cron_missed";
                        count: number;
                    } | {
                        /** @constant */
                        kind: "hook_result";
                        event: string;
                        blocked?: boolean;
                        ownerPromptId?: string;
                    } | {
                        /** @constant */
                        kind: "retry";
                        trigger?: string;
                    };
                    id?: string;
                }[];
                tokens: number;
                /** @constant */
                truncated?: true;
                /** @constant */
                type: "context.spliced";
                time: number;
                agentId: string;
                sessionId: string;
            } | {
                turnId: number;
                toolCallId: string;
                name: string;
                args: unknown;
                description?: string;
                display?: {
                    /** @constant */
                    kind: "command";
                    command: string;
                    cwd?: string;
                    description?: string;
                    /** @constant */
                    language?: "bash";
                } | {
                    /** @constant */
                    kind: "file_io";
                    /** @enum {string} */
                    operation: "read" | "write" | "edit" | "glob" | "grep";
                    path: string;
                    detail?: string;
                    content?: string;
                    before?: string;
                    after?: string;
                } | {
                    /** @constant */
                    kind: "diff";
                    path: string;
                    before: string;
                    after: string;
                    hunks?: number;
                } | {
                    /** @constant */
                    kind: "search";
                    query: string;
                    scope?: string;
                } | {
                    /** @constant */
                    kind: "url_fetch";
                    url: string;
                    method?: string;
                } | {
                    /** @constant */
                    kind: "agent_call";
                    agent_name: string;
                    prompt: string;
                    background?: boolean;
                } | {
                    /** @constant */
                    kind: "skill_call";
                    skill_name: string;
                    args?: string;
                } | {
                    /** @constant */
                    kind: "todo_list";
                    items: {
                        title: string;
                        status: string;
                    }[];
                } | {
                    /** @constant */
                    kind: "task";
                    task_id: string;
                    status: string;
                    description: string;
                    task_kind?: string;
                } | {
                    /** @constant */
                    kind: "task_stop";
                    task_id: string;
                    task_description: string;
                } | {
                    /** @constant */
                    kind: "plan_review";
                    plan: string;
                    path?: string;
                    options?: {
                        label: string;
                        description?: string;
                    }[];
                } | {
                    /** @constant */
                    kind: "goal_start";
                    objective: string;
                    completionCriterion?: string;
                    /** @enum {string} */
                    mode: "manual" | "yolo";
                } | {
                    /** @constant */
                    kind: "generic";
                    summary: string;
                    detail?: unknown;
                };
                /** @constant */
                type: "tool.call.started";
                time: number;
                agentId: string;
                sessionId: string;
            } | {
                turnId: number;
                toolCallId: string;
                output: string | ({
                    /** @constant */
                    type: "text";
                    text: string;
                } | {
                    /** @constant */
                    type: "think";
                    think: string;
                    encrypted?: string;
                    format?: string;
                } | {
                    /** @constant */
                    type: "image_url";
                    imageUrl: {
                        url: string;
                        id?: string;
                    };
                } | {
                    /** @constant */
                    type: "audio_url";
                    audioUrl: {
                        url: string;
                        id?: string;
                    };
                } | {
                    /** @constant */
                    type: "video_url";
                    videoUrl: {
                        url: string;
                        id?: string;
                    };
                })[];
                /** @constant */
                isError?: true;
                /** @constant */
                synthetic?: true;
                /** @constant */
                type: "tool.result";
                time: number;
                agentId: string;
                sessionId: string;
            } | {
                id: string;
                turnId: number;
                toolCallId: string;
                toolName: string;
                action: string;
                display: {
                    /** @constant */
                    kind: "command";
                    command: string;
                    cwd?: string;
                    description?: string;
                    /** @constant */
                    language?: "bash";
                } | {
                    /** @constant */
                    kind: "file_io";
                    /** @enum {string} */
                    operation: "read" | "write" | "edit" | "glob" | "grep";
                    path: string;
                    detail?: string;
                    content?: string;
                    before?: string;
                    after?: string;
                } | {
                    /** @constant */
                    kind: "diff";
                    path: string;
                    before: string;
                    after: string;
                    hunks?: number;
                } | {
                    /** @constant */
                    kind: "search";
                    query: string;
                    scope?: string;
                } | {
                    /** @constant */
                    kind: "url_fetch";
                    url: string;
                    method?: string;
                } | {
                    /** @constant */
                    kind: "agent_call";
                    agent_name: string;
                    prompt: string;
                    background?: boolean;
                } | {
                    /** @constant */
                    kind: "skill_call";
                    skill_name: string;
                    args?: string;
                } | {
                    /** @constant */
                    kind: "todo_list";
                    items: {
                        title: string;
                        status: string;
                    }[];
                } | {
                    /** @constant */
                    kind: "task";
                    task_id: string;
                    status: string;
                    description: string;
                    task_kind?: string;
                } | {
                    /** @constant */
                    kind: "task_stop";
                    task_id: string;
                    task_description: string;
                } | {
                    /** @constant */
                    kind: "plan_review";
                    plan: string;
                    path?: string;
                    options?: {
                        label: string;
                        description?: string;
                    }[];
                } | {
                    /** @constant */
                    kind: "goal_start";
                    objective: string;
                    completionCriterion?: string;
                    /** @enum {string} */
                    mode: "manual" | "yolo";
                } | {
                    /** @constant */
                    kind: "generic";
                    summary: string;
                    detail?: unknown;
                };
                toolInput: unknown;
                /** @constant */
                type: "permission.approval.requested";
                time: number;
                agentId: string;
                sessionId: string;
            } | {
                id: string;
                turnId: number;
                toolCallId: string;
                toolName: string;
                action: string;
                display: {
                    /** @constant */
                    kind: "command";
                    command: string;
                    cwd?: string;
                    description?: string;
                    /** @constant */
                    language?: "bash";
                } | {
                    /** @constant */
                    kind: "file_io";
                    /** @enum {string} */
                    operation: "read" | "write" | "edit" | "glob" | "grep";
                    path: string;
                    detail?: string;
                    content?: string;
                    before?: string;
                    after?: string;
                } | {
                    /** @constant */
                    kind: "diff";
                    path: string;
                    before: string;
                    after: string;
                    hunks?: number;
                } | {
                    /** @constant */
                    kind: "search";
                    query: string;
                    scope?: string;
                } | {
                    /** @constant */
                    kind: "url_fetch";
                    url: string;
                    method?: string;
                } | {
                    /** @constant */
                    kind: "agent_call";
                    agent_name: string;
                    prompt: string;
                    background?: boolean;
                } | {
                    /** @constant */
                    kind: "skill_call";
                    skill_name: string;
                    args?: string;
                } | {
                    /** @constant */
                    kind: "todo_list";
                    items: {
                        title: string;
                        status: string;
                    }[];
                } | {
                    /** @constant */
                    kind: "task";
                    task_id: string;
                    status: string;
                    description: string;
                    task_kind?: string;
                } | {
                    /** @constant */
                    kind: "task_stop";
                    task_id: string;
                    task_description: string;
                } | {
                    /** @constant */
                    kind: "plan_review";
                    plan: string;
                    path?: string;
                    options?: {
                        label: string;
                        description?: string;
                    }[];
                } | {
                    /** @constant */
                    kind: "goal_start";
                    objective: string;
                    completionCriterion?: string;
                    /** @enum {string} */
                    mode: "manual" | "yolo";
                } | {
                    /** @constant */
                    kind: "generic";
                    summary: string;
                    detail?: unknown;
                };
                toolInput: unknown;
                /** @enum {string} */
                decision: "approved" | "rejected" | "cancelled" | "error";
                /** @constant */
                scope?: "session";
                feedback?: string;
                selectedLabel?: string;
                error?: string;
                /** @constant */
                type: "permission.approval.resolved";
                time: number;
                agentId: string;
                sessionId: string;
            } | {
                approval_id: string;
                session_id: string;
                agent_id: string;
                turn_id?: number;
                tool_call_id: string;
                tool_name: string;
                action: string;
                tool_input_display: {
                    /** @constant */
                    kind: "command";
                    command: string;
                    cwd?: string;
                    description?: string;
                    /** @constant */
                    language?: "bash";
                } | {
                    /** @constant */
                    kind: "file_io";
                    /** @enum {string} */
                    operation: "read" | "write" | "edit" | "glob" | "grep";
                    path: string;
                    detail?: string;
                    content?: string;
                    before?: string;
                    after?: string;
                } | {
                    /** @constant */
                    kind: "diff";
                    path: string;
                    before: string;
                    after: string;
                    hunks?: number;
                } | {
                    /** @constant */
                    kind: "search";
                    query: string;
                    scope?: string;
                } | {
                    /** @constant */
                    kind: "url_fetch";
                    url: string;
                    method?: string;
                } | {
                    /** @constant */
                    kind: "agent_call";
                    agent_name: string;
                    prompt: string;
                    background?: boolean;
                } | {
                    /** @constant */
                    kind: "skill_call";
                    skill_name: string;
                    args?: string;
                } | {
                    /** @constant */
                    kind: "todo_list";
                    items: {
                        title: string;
                        status: string;
                    }[];
                } | {
                    /** @constant */
                    kind: "task";
                    task_id: string;
                    status: string;
                    description: string;
                    task_kind?: string;
                } | {
                    /** @constant */
                    kind: "task_stop";
                    task_id: string;
                    task_description: string;
                } | {
                    /** @constant */
                    kind: "plan_review";
                    plan: string;
                    path?: string;
                    options?: {
                        label: string;
                        description?: string;
                    }[];
                } | {
                    /** @constant */
                    kind: "goal_start";
                    objective: string;
                    completionCriterion?: string;
                    /** @enum {string} */
                    mode: "manual" | "yolo";
                } | {
                    /** @constant */
                    kind: "generic";
                    summary: string;
                    detail?: unknown;
                };
                created_at: string;
                expires_at: string;
                /** @constant */
                type: "event.approval.requested";
                agentId: string;
                sessionId: string;
            } | {
                approval_id: string;
                /** @enum {string} */
                decision: "approved" | "rejected" | "cancelled";
                /** @constant */
                scope?: "session";
                feedback?: string;
                selected_label?: string;
                resolved_at: string;
                /** @constant */
                type: "event.approval.resolved";
                agentId: string;
                sessionId: string;
            } | {
                question_id: string;
                session_id: string;
                questions: {
                    id: string;
                    question: string;
                    options: {
                        id: string;
                        label: string;
                        description?: string;
                    }[];
                    header?: string;
                    body?: string;
                    multi_select?: boolean;
                    allow_other?: boolean;
                    other_label?: string;
                    other_description?: string;
                }[];
                created_at: string;
                agent_id?: string;
                turn_id?: number;
                tool_call_id?: string;
                /** @constant */
                type: "event.question.requested";
                agentId: string;
                sessionId: string;
            } | {
                question_id: string;
                answers: {
                    [key: string]: string;
                };
                resolved_at: string;
                /** @constant */
                type: "event.question.answered";
                agentId: string;
                sessionId: string;
            } | {
                question_id: string;
                dismissed_at: string;
                /** @constant */
                type: "event.question.dismissed";
                agentId: string;
                sessionId: string;
            } | {
                subagentId: string;
                subagentName: string;
                parentToolCallId: string;
                parentToolCallUuid?: string;
                parentAgentId?: string;
                callerAgentId?: string;
                description?: string;
                swarmIndex?: number;
                runInBackground: boolean;
                model?: string;
                thinkingEffort?: string;
                taskId?: string;
                /** @constant */
                type: "subagent.spawned";
                time: number;
                agentId: string;
                sessionId: string;
            } | {
                subagentId: string;
                /** @constant */
                type: "subagent.started";
                time: number;
                agentId: string;
                sessionId: string;
            } | {
                subagentId: string;
                reason: string;
                /** @constant */
                type: "subagent.suspended";
                time: number;
                agentId: string;
                sessionId: string;
            } | {
                subagentId: string;
                resultSummary: string;
                usage?: {
                    inputOther: number;
                    output: number;
                    inputCacheRead: number;
                    inputCacheCreation: number;
                };
                contextTokens?: number;
                /** @constant */
                type: "subagent.completed";
                time: number;
                agentId: string;
                sessionId: string;
            } | {
                subagentId: string;
                error: string;
                /** @constant */
                type: "subagent.failed";
                time: number;
                agentId: string;
                sessionId: string;
            } | {
                info: {
                    taskId: string;
                    description: string;
                    /** @enum {string} */
                    status: "running" | "completed" | "failed" | "timed_out" | "killed" | "lost";
                    detached?: boolean;
                    startedAt: number;
                    endedAt: number | null;
                    stopReason?: string;
                    terminalNotificationSuppressed?: boolean;
                    timeoutMs?: number;
                    /** @constant */
                    kind: "process";
                    command: string;
                    pid: number;
                    exitCode: number | null;
                    parentToolCallId?: string;
                } | {
                    taskId: string;
                    description: string;
                    /** @enum {string} */
                    status: "running" | "completed" | "failed" | "timed_out" | "killed" | "lost";
                    detached?: boolean;
                    startedAt: number;
                    endedAt: number | null;
                    stopReason?: string;
                    terminalNotificationSuppressed?: boolean;
                    timeoutMs?: number;
                    /** @constant */
                    kind: "agent";
                    agentId?: string;
                    subagentType?: string;
                    parentToolCallId?: string;
                    model?: string;
                    thinkingEffort?: string;
                } | {
                    taskId: string;
                    description: string;
                    /** @enum {string} */
                    status: "running" | "completed" | "failed" | "timed_out" | "killed" | "lost";
                    detached?: boolean;
                    startedAt: number;
                    endedAt: number | null;
                    stopReason?: string;
                    terminalNotificationSuppressed?: boolean;
                    timeoutMs?: number;
                    /** @constant */
                    kind: "question";
                    questionCount: number;
                    toolCallId?: string;
                };
                /** @constant */
                type: "task.started";
                time: number;
                agentId: string;
                sessionId: string;
            } | {
                info: {
                    taskId: string;
                    description: string;
                    /** @enum {string} */
                    status: "running" | "completed" | "failed" | "timed_out" | "killed" | "lost";
                    detached?: boolean;
                    startedAt: number;
                    endedAt: number | null;
                    stopReason?: string;
                    terminalNotificationSuppressed?: boolean;
                    timeoutMs?: number;
                    /** @constant */
                    kind: "process";
                    command: string;
                    pid: number;
                    exitCode: number | null;
                    parentToolCallId?: string;
                } | {
                    taskId: string;
                    description: string;
                    /** @enum {string} */
                    status: "running" | "completed" | "failed" | "timed_out" | "killed" | "lost";
                    detached?: boolean;
                    startedAt: number;
                    endedAt: number | null;
                    stopReason?: string;
                    terminalNotificationSuppressed?: boolean;
                    timeoutMs?: number;
                    /** @constant */
                    kind: "agent";
                    agentId?: string;
                    subagentType?: string;
                    parentToolCallId?: string;
                    model?: string;
                    thinkingEffort?: string;
                } | {
                    taskId: string;
                    description: string;
                    /** @enum {string} */
                    status: "running" | "completed" | "failed" | "timed_out" | "killed" | "lost";
                    detached?: boolean;
                    startedAt: number;
                    endedAt: number | null;
                    stopReason?: string;
                    terminalNotificationSuppressed?: boolean;
                    timeoutMs?: number;
                    /** @constant */
                    kind: "question";
                    questionCount: number;
                    toolCallId?: string;
                };
                /** @constant */
                type: "task.terminated";
                time: number;
                agentId: string;
                sessionId: string;
            } | {
                info: {
                    taskId: string;
                    description: string;
                    /** @enum {string} */
                    status: "running" | "completed" | "failed" | "timed_out" | "killed" | "lost";
                    detached?: boolean;
                    startedAt: number;
                    endedAt: number | null;
                    stopReason?: string;
                    terminalNotificationSuppressed?: boolean;
                    timeoutMs?: number;
                    /** @constant */
                    kind: "process";
                    command: string;
                    pid: number;
                    exitCode: number | null;
                    parentToolCallId?: string;
                } | {
                    taskId: string;
                    description: string;
                    /** @enum {string} */
                    status: "running" | "completed" | "failed" | "timed_out" | "killed" | "lost";
                    detached?: boolean;
                    startedAt: number;
                    endedAt: number | null;
                    stopReason?: string;
                    terminalNotificationSuppressed?: boolean;
                    timeoutMs?: number;
                    /** @constant */
                    kind: "agent";
                    agentId?: string;
                    subagentType?: string;
                    parentToolCallId?: string;
                    model?: string;
                    thinkingEffort?: string;
                } | {
                    taskId: string;
                    description: string;
                    /** @enum {string} */
                    status: "running" | "completed" | "failed" | "timed_out" | "killed" | "lost";
                    detached?: boolean;
                    startedAt: number;
                    endedAt: number | null;
                    stopReason?: string;
                    terminalNotificationSuppressed?: boolean;
                    timeoutMs?: number;
                    /** @constant */
                    kind: "question";
                    questionCount: number;
                    toolCallId?: string;
                };
                /** @constant */
                type: "background.task.started";
                time: number;
                agentId: string;
                sessionId: string;
            } | {
                info: {
                    taskId: string;
                    description: string;
                    /** @enum {string} */
                    status: "running" | "completed" | "failed" | "timed_out" | "killed" | "lost";
                    detached?: boolean;
                    startedAt: number;
                    endedAt: number | null;
                    stopReason?: string;
                    terminalNotificationSuppressed?: boolean;
                    timeoutMs?: number;
                    /** @constant */
                    kind: "process";
                    command: string;
                    pid: number;
                    exitCode: number | null;
                    parentToolCallId?: string;
                } | {
                    taskId: string;
                    description: string;
                    /** @enum {string} */
                    status: "running" | "completed" | "failed" | "timed_out" | "killed" | "lost";
                    detached?: boolean;
                    startedAt: number;
                    endedAt: number | null;
                    stopReason?: string;
                    terminalNotificationSuppressed?: boolean;
                    timeoutMs?: number;
                    /** @constant */
                    kind: "agent";
                    agentId?: string;
                    subagentType?: string;
                    parentToolCallId?: string;
                    model?: string;
                    thinkingEffort?: string;
                } | {
                    taskId: string;
                    description: string;
                    /** @enum {string} */
                    status: "running" | "completed" | "failed" | "timed_out" | "killed" | "lost";
                    detached?: boolean;
                    startedAt: number;
                    endedAt: number | null;
                    stopReason?: string;
                    terminalNotificationSuppressed?: boolean;
                    timeoutMs?: number;
                    /** @constant */
                    kind: "question";
                    questionCount: number;
                    toolCallId?: string;
                };
                /** @constant */
                type: "background.task.terminated";
                time: number;
                agentId: string;
                sessionId: string;
            } | {
                notificationType: string;
                title: string;
                body: string;
                /** @enum {string} */
                severity: "info" | "warning";
                /** @constant */
                sourceKind: "background_task";
                sourceId: string;
                /** @constant */
                type: "task.notified";
                time: number;
                agentId: string;
                sessionId: string;
            } | {
                /** @enum {string} */
                trigger: "manual" | "auto";
                instruction?: string;
                /** @constant */
                type: "compaction.started";
                time: number;
                agentId: string;
                sessionId: string;
            } | {
                turnId?: number;
                /** @constant */
                type: "compaction.blocked";
                time: number;
                agentId: string;
                sessionId: string;
            } | {
                result: {
                    summary: string;
                    compactedCount: number;
                    tokensBefore: number;
                    tokensAfter: number;
                    keptUserMessageCount?: number;
                    keptHeadUserMessageCount?: number;
                    droppedCount?: number;
                };
                /** @constant */
                type: "compaction.completed";
                time: number;
                agentId: string;
                sessionId: string;
            } | {
                /** @constant */
                type: "compaction.cancelled";
                time: number;
                agentId: string;
                sessionId: string;
            } | {
                turns: number;
                /** @constant */
                type: "context.undone";
                time: number;
                agentId: string;
                sessionId: string;
            } | {
                snapshot: components["schemas"]["Goal"] | null;
                change?: {
                    /** @enum {string} */
                    kind: "lifecycle" | "completion";
                    /** @enum {string} */
                    status?: "active" | "paused" | "blocked" | "complete";
                    reason?: string;
                    /** @enum {string} */
                    actor?: "user" | "model" | "runtime" | "system";
                    stats?: {
                        turnsUsed: number;
                        tokensUsed: number;
                        wallClockMs: number;
                    };
                };
                /** @constant */
                type: "goal.updated";
                time: number;
                agentId: string;
                sessionId: string;
            } | {
                id: string;
                version: number;
                path: string;
                sha256: string;
                bytes: number;
                /** @constant */
                type: "plan.revision";
                time: number;
                agentId: string;
                sessionId: string;
            } | {
                activationId: string;
                skillName: string;
                /** @enum {string} */
                trigger: "user-slash" | "model-tool" | "nested-skill";
                skillArgs?: string;
                skillPath?: string;
                /** @enum {string} */
                skillSource?: "project" | "user" | "extra" | "builtin";
                /** @constant */
                type: "skill.activated";
                time: number;
                agentId: string;
                sessionId: string;
            } | {
                activationId: string;
                pluginId: string;
                commandName: string;
                commandArgs?: string;
                /** @constant */
                trigger: "user-slash";
                /** @constant */
                type: "plugin_command.activated";
                time: number;
                agentId: string;
                sessionId: string;
            } | {
                turnId?: number;
                hookEvent: string;
                content: string;
                /** @constant */
                blocked?: true;
                /** @constant */
                type: "hook.result";
                time: number;
                agentId: string;
                sessionId: string;
            } | {
                server: {
                    name: string;
                    /** @enum {string} */
                    transport: "stdio" | "http" | "sse";
                    /** @enum {string} */
                    status: "pending" | "connected" | "failed" | "disabled" | "needs-auth" | "removed";
                    toolCount: number;
                    error?: string;
                };
                /** @constant */
                type: "mcp.server.status";
                time: number;
                agentId: string;
                sessionId: string;
            } | {
                /** @enum {string} */
                reason: "mcp.connected" | "mcp.disconnected" | "mcp.failed";
                serverName: string;
                /** @constant */
                type: "tool.list.updated";
                time: number;
                agentId: string;
                sessionId: string;
            } | {
                origin: {
                    /** @constant */
                    kind: "cron_job";
                    jobId: string;
                    cron: string;
                    recurring: boolean;
                    coalescedCount: number;
                    stale: boolean;
                };
                prompt: string;
                /** @constant */
                type: "cron.fired";
                time: number;
                agentId: string;
                sessionId: string;
            } | {
                turnId: number;
                delta: string;
                /** @constant */
                type: "assistant.delta";
                time: number;
                agentId: string;
                sessionId: string;
            } | {
                turnId: number;
                delta: string;
                /** @constant */
                type: "thinking.delta";
                time: number;
                agentId: string;
                sessionId: string;
            } | {
                turnId: number;
                toolCallId: string;
                name?: string;
                argumentsPart?: string;
                /** @constant */
                type: "tool.call.delta";
                time: number;
                agentId: string;
                sessionId: string;
            } | {
                turnId: number;
                toolCallId: string;
                update: {
                    /** @enum {string} */
                    kind: "stdout" | "stderr" | "progress" | "status" | "custom";
                    text?: string;
                    percent?: number;
                    customKind?: string;
                    customData?: unknown;
                    replace?: boolean;
                };
                /** @constant */
                type: "tool.progress";
                time: number;
                agentId: string;
                sessionId: string;
            } | {
                phase?: {
                    /** @constant */
                    kind: "idle";
                } | {
                    /** @constant */
                    kind: "running";
                    turnId: number;
                    step: number;
                    /** @constant */
                    stepId: "";
                    since: number;
                } | {
                    /** @constant */
                    kind: "streaming";
                    turnId: number;
                    step: number;
                    /** @constant */
                    stepId: "";
                    /** @enum {string} */
                    stream: "assistant" | "thinking" | "tool_call";
                    since: number;
                } | {
                    /** @constant */
                    kind: "tool_call";
                    turnId: number;
                    step: number;
                    toolCallId: string;
                    name: string;
                    since: number;
                } | {
                    /** @constant */
                    kind: "retrying";
                    turnId: number;
                    step: number;
                    /** @constant */
                    stepId: "";
                    failedAttempt: number;
                    nextAttempt: number;
                    maxAttempts: number;
                    delayMs: number;
                    errorName?: string;
                    statusCode?: number;
                    since: number;
                } | {
                    /** @constant */
                    kind: "awaiting_approval";
                    turnId: number;
                    step?: number;
                    approval: {
                        approvalId: string;
                        toolCallId: string;
                    };
                    since: number;
                } | {
                    /** @constant */
                    kind: "interrupted";
                    turnId: number;
                    step?: number;
                    /** @enum {string} */
                    reason: "aborted" | "max_steps" | "error";
                    at: number;
                } | {
                    /** @constant */
                    kind: "ended";
                    turnId: number;
                    /** @enum {string} */
                    reason: "completed" | "cancelled" | "failed" | "blocked";
                    durationMs?: number;
                    at: number;
                };
                model?: string;
                thinkingEffort?: string;
                contextTokens?: number;
                maxContextTokens?: number;
                contextUsage?: number;
                usage?: {
                    byModel?: {
                        [key: string]: {
                            inputOther: number;
                            output: number;
                            inputCacheRead: number;
                            inputCacheCreation: number;
                        };
                    };
                    total?: {
                        inputOther: number;
                        output: number;
                        inputCacheRead: number;
                        inputCacheCreation: number;
                    };
                    currentTurn?: {
                        inputOther: number;
                        output: number;
                        inputCacheRead: number;
                        inputCacheCreation: number;
                    };
                };
                planMode?: boolean;
                swarmMode?: boolean;
                /** @enum {string} */
                permission?: "manual" | "yolo" | "auto";
                /** @constant */
                type: "agent.status.updated";
                time?: number;
                agentId: string;
                sessionId: string;
            } | {
                workspace_id: string;
                /** @constant */
                type: "event.session.archived";
                agentId: string;
                sessionId: string;
            } | {
                workspace: components["schemas"]["Workspace"];
                /** @constant */
                type: "event.workspace.created";
                agentId: string;
                sessionId: string;
            } | {
                workspace: components["schemas"]["Workspace"];
                by?: components["schemas"]["Caller"];
                /** @constant */
                type: "event.workspace.updated";
                agentId: string;
                sessionId: string;
            } | {
                workspace_id: string;
                root: string;
                /** @constant */
                type: "event.workspace.deleted";
                agentId: string;
                sessionId: string;
            } | {
                changedFields: string[];
                config: components["schemas"]["Config"];
                by?: components["schemas"]["Caller"];
                /** @constant */
                type: "event.config.changed";
                agentId: string;
                sessionId: string;
            } | {
                warnings: {
                    domain?: string;
                    message: string;
                }[];
                /** @constant */
                type: "event.config.warning";
                agentId: string;
                sessionId: string;
            } | {
                changed: {
                    provider_id: string;
                    provider_name: string;
                    added: number;
                    removed: number;
                }[];
                unchanged: string[];
                failed: {
                    provider: string;
                    reason: string;
                }[];
                retired_default?: {
                    from: string;
                    to: string;
                    from_display_name: string;
                };
                /** @constant */
                type: "event.model_catalog.changed";
                agentId: string;
                sessionId: string;
            } | {
                /** @constant */
                type: "event.plugin.changed";
                agentId: string;
                sessionId: string;
            } | {
                capability_id: string;
                install: components["schemas"]["CapabilityInstall"];
                /** @constant */
                type: "event.capability.changed";
                agentId: string;
                sessionId: string;
            } | {
                /** @constant */
                type: "transcript.reset";
                agent_id: string;
                snapshot: {
                    items: components["schemas"]["TranscriptItem"][];
                    tasks: components["schemas"]["TranscriptTask"][];
                    /** @default [] */
                    interactions: components["schemas"]["TranscriptInteraction"][];
                    /** @default [] */
                    attachments: components["schemas"]["TranscriptAttachment"][];
                    /** @default [] */
                    todos: components["schemas"]["TranscriptTodo"][];
                    /** @default [] */
                    prompts: components["schemas"]["TranscriptPrompt"][];
                    meta: components["schemas"]["TranscriptMeta"];
                    hasMoreOlder?: boolean;
                };
                has_more_older: boolean;
                seq?: number;
            } | {
                /** @constant */
                type: "transcript.ops";
                agent_id: string;
                ops: components["schemas"]["TranscriptOp"][];
                seq?: number;
            };
            epoch?: string;
            /** @constant */
            volatile?: true;
            offset?: number;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export type operations = Record<string, never>;
