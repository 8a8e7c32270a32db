// Generated from /openapi.json by `npm run client:types`.

export interface paths {
    "/api/v1/auth": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Whether models are ready and the managed login is valid */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: components["schemas"]["AuthSummary"];
                            request_id: string;
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/capabilities": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * All capabilities, detected now
         * @description A detection that fails is a failed step `detect` of its capability.
         */
        get: operations["listCapabilities"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/capabilities/{capability_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A capability, detected now, and its installation */
        get: operations["getCapability"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/capabilities/{capability_id}:install": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Install or update a capability in the background
         * @description Replies with the status directly after the start; progress is in `event.capability.changed`.
         */
        post: operations["installCapability"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/catalog/providers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the providers of the public model directory
         * @description The directory is cached for 10 minutes; if it cannot be read, an older copy or the snapshot of the build is listed.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: {
                                items: components["schemas"]["CatalogEntry"][];
                            };
                            request_id: string;
                        } | components["schemas"]["Error50004"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/catalog/providers/{catalog_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a provider of the public model directory */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    catalog_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: components["schemas"]["CatalogEntry"];
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error40417"] | components["schemas"]["Error50004"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/config": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the configuration in effect, without secrets */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: components["schemas"]["Config"];
                            request_id: string;
                        };
                    };
                };
            };
        };
        put?: never;
        /**
         * Merge a partial configuration into the stored one
         * @description Objects merge recursively, lists and scalars replace, null removes. One invalid domain rejects it all.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ConfigPatch"];
                };
            };
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: components["schemas"]["Config"];
                            request_id: string;
                        } | components["schemas"]["Error40001"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/connections": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Established WebSocket connections, oldest first */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: {
                                connections: components["schemas"]["Connection"][];
                            };
                            request_id: string;
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/files": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Upload a file for prompts */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "multipart/form-data": {
                        /** Format: binary */
                        file: string;
                        name?: string;
                        expires_in_sec?: number;
                    };
                };
            };
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: components["schemas"]["File"];
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error41301"] | components["schemas"]["Error50003"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/files/{file_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Download an uploaded file */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    file_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Success */
                200: {
                    headers: {
                        "content-disposition"?: string;
                        "content-length"?: string;
                        etag?: string;
                        [name: string]: unknown;
                    };
                    content: {
                        "application/octet-stream": string;
                        "application/json": components["schemas"]["Error40001"];
                    };
                };
                /** @description A part of it */
                206: {
                    headers: {
                        "content-disposition"?: string;
                        "content-length"?: string;
                        etag?: string;
                        "content-range"?: string;
                        [name: string]: unknown;
                    };
                    content: {
                        "application/octet-stream": string;
                    };
                };
                /** @description Failure */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error40407"];
                    };
                };
                /** @description Failure */
                500: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error50001"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        /** Delete an uploaded file; the copies in sessions remain */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    file_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: {
                                /** @constant */
                                deleted: true;
                            };
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error40407"] | components["schemas"]["Error50003"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/fs:browse": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The directories in a directory of the machine, by default in the home of the user */
        get: operations["fsBrowse"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/fs:content": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The bytes of any file of the machine */
        get: operations["fsContent"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/fs:home": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The home of the user, and the most recently opened workspaces */
        get: operations["fsHome"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/fs:mkdir": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Create a directory anywhere on the machine */
        post: operations["fsMkdir"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/healthz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Liveness, without a token */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: {
                                /** @constant */
                                ok: true;
                            };
                            request_id: string;
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/mcp/servers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * MCP servers of the loaded session created last
         * @description Starts the servers of its workspace if they are not started, without waiting for connections.
         */
        get: operations["listMcpServers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/mcp/servers/{mcp_server_id}:restart": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Reconnect an MCP server
         * @description The reply is sent after the attempt has succeeded or failed.
         */
        post: operations["restartMcpServer"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/meta": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Version, capabilities and features of this server */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: components["schemas"]["Meta"];
                            request_id: string;
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/models": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the models */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: {
                                items: components["schemas"]["ModelItem"][];
                            };
                            request_id: string;
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/models/{model_id}:set_default": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Set the default model of new agents */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    model_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: {
                                default_model: string;
                                model: components["schemas"]["ModelItem"];
                            };
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error40413"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/oauth/login": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The last login of a provider, null without a code */
        get: {
            parameters: {
                query?: {
                    provider?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: components["schemas"]["LoginFlow"] | null;
                            request_id: string;
                        } | components["schemas"]["Error40001"];
                    };
                };
            };
        };
        put?: never;
        /** Start a login; a stored login that is still accepted needs no code */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": {
                        /** @default managed:service-code */
                        provider?: string;
                        /** @enum {string} */
                        region?: "mainland-cn" | "global";
                    };
                };
            };
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: components["schemas"]["StartedLogin"];
                            request_id: string;
                        } | components["schemas"]["Error40001"];
                    };
                };
            };
        };
        /** Cancel the pending login of a provider */
        delete: {
            parameters: {
                query?: {
                    provider?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: {
                                cancelled: boolean;
                                /** @enum {string} */
                                status: "pending" | "authenticated" | "denied" | "expired" | "cancelled";
                            };
                            request_id: string;
                        } | components["schemas"]["Error40001"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/oauth/logout": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Remove the login of a provider, the provider and its models */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": {
                        /** @default managed:service-code */
                        provider?: string;
                    };
                };
            };
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: {
                                /** @constant */
                                logged_out: true;
                                provider: string;
                            };
                            request_id: string;
                        } | components["schemas"]["Error40001"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/oauth/region": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The region of the cloud, resolved without a request */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: {
                                /** @enum {string} */
                                region: "mainland-cn" | "global";
                            };
                            request_id: string;
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/oauth/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Usage of the account, requested from the cloud; failures are part of the reply */
        get: {
            parameters: {
                query?: {
                    provider?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: {
                                /** @constant */
                                kind: "ok";
                                quota: components["schemas"]["Quota"];
                            } | {
                                /** @constant */
                                kind: "error";
                                message: string;
                                status?: number;
                            };
                            request_id: string;
                        } | components["schemas"]["Error40001"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/oauth/userinfo": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The user of the account, requested from the cloud; failures are part of the reply */
        get: {
            parameters: {
                query?: {
                    provider?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: {
                                /** @constant */
                                kind: "ok";
                                userInfo: components["schemas"]["UserInfo"];
                            } | {
                                /** @constant */
                                kind: "error";
                                message: string;
                                status?: number;
                            };
                            request_id: string;
                        } | components["schemas"]["Error40001"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/plugins": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Installed plugins, sorted by id
         * @description Waits for installs and actions that were requested before.
         */
        get: operations["listPlugins"];
        put?: never;
        /**
         * Install a plugin, or replace the installed one with the same id
         * @description The reply is sent after the install. Closing the request does not cancel it. A plugin may start programs as the user.
         */
        post: operations["installPlugin"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/plugins/{plugin_id}:disable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Disable an installed plugin; it stays installed */
        post: operations["disablePlugin"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/plugins/{plugin_id}:enable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Enable an installed plugin */
        post: operations["enablePlugin"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/plugins/{plugin_id}:remove": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Remove a plugin from the installed ones */
        post: operations["removePlugin"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/plugins/marketplace": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The configured catalog of plugins, and which of them are installed
         * @description Reads the catalog at each request.
         */
        get: operations["listPluginMarketplace"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/providers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the providers, without keys */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: {
                                items: components["schemas"]["ProviderItem"][];
                            };
                            request_id: string;
                        };
                    };
                };
            };
        };
        put?: never;
        /** Add a provider with its models */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        id: string;
                        /** @enum {string} */
                        type: "native" | "openai" | "openai_responses" | "anthropic" | "google-genai" | "vertexai";
                        api_key?: string;
                        base_url?: string;
                        default_model?: string;
                        models: {
                            model: string;
                            max_context_size: number;
                            display_name?: string;
                            capabilities?: string[];
                            max_output_size?: number;
                            support_efforts?: string[];
                            adaptive_thinking?: boolean;
                        }[];
                    };
                };
            };
            responses: {
                /** @description Failure */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error40001"] | components["schemas"]["Error40921"];
                    };
                };
                /** @description Created */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: components["schemas"]["ProviderItem"];
                            request_id: string;
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/providers/{provider_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a provider with its stored key */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    provider_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: components["schemas"]["ProviderDetail"];
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error40412"];
                    };
                };
            };
        };
        /**
         * Replace a provider and its models, or rename it
         * @description Without api_key the stored key stays; an empty one clears it.
         */
        put: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    provider_id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        new_id?: string;
                        /** @enum {string} */
                        type: "native" | "openai" | "openai_responses" | "anthropic" | "google-genai" | "vertexai";
                        api_key?: string;
                        base_url?: string;
                        default_model?: string;
                        models: {
                            model: string;
                            max_context_size: number;
                            display_name?: string;
                            capabilities?: string[];
                            max_output_size?: number;
                            support_efforts?: string[];
                            adaptive_thinking?: boolean;
                        }[];
                    };
                };
            };
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: {
                                provider: components["schemas"]["ProviderItem"];
                            };
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error40003"] | components["schemas"]["Error40412"] | components["schemas"]["Error40921"];
                    };
                };
            };
        };
        post?: never;
        /** Delete a provider and its models */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    provider_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Failure */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error40001"] | components["schemas"]["Error40003"] | components["schemas"]["Error40412"];
                    };
                };
                /** @description Done, no content */
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/providers/{provider_id}:refresh": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Refresh the models of one provider from its source
         * @description Other providers of the same registry are neither changed nor added or removed.
         */
        post: operations["refreshProvider"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/providers:import_catalog": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Import a provider of the public model directory
         * @description Writes the provider and its models; an existing provider of that id is refreshed. Without api_key the stored key stays; an empty one clears it.
         */
        post: operations["importCatalog"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/providers:import_registry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Import the providers of a custom registry
         * @description Replaces providers that the registry lists, and removes providers of the same URL that it does not list any more. Without api_key the stored key of the registry is used.
         */
        post: operations["importRegistry"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/providers:refresh": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Refresh the models of all providers from their sources
         * @description Waits for the sources. One that fails is in `failed`; it does not stop the others.
         */
        post: operations["refreshProviders"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/providers:refresh_oauth": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Refresh the models of the managed login
         * @description All lists are empty if there is none.
         */
        post: operations["refreshOauthProvider"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/remote-control": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * State of remote control
         * @description Works without a login. There are no events for changes: clients poll it.
         */
        get: operations["getRemoteControl"];
        put?: never;
        /**
         * Start or stop remote control
         * @description A start is answered when the tunnel is connected, at the latest after 15 s with state `starting`. A stop that arrives through the tunnel is answered with `stopping`.
         */
        post: operations["setRemoteControl"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/remote-control/devices": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Devices of the account, in the order of the cloud */
        get: operations["listRemoteDevices"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/remote-control/devices/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Remove a device from the account and disconnect it
         * @description An unknown device is removed already.
         */
        delete: operations["removeRemoteDevice"];
        options?: never;
        head?: never;
        /** Rename a device */
        patch: operations["renameRemoteDevice"];
        trace?: never;
    };
    "/api/v1/remote-control/devices/{id}/deactivate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Deactivate a device: it stays listed, but is no part of the quota */
        post: operations["deactivateRemoteDevice"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Search what was said in all sessions */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        query: string;
                        /**
                         * @description `terms` compares whole words, `literal` the text as it is written; case and width never count
                         * @default terms
                         * @enum {string}
                         */
                        mode?: "terms" | "literal";
                        /**
                         * @description Whether all terms have to match, or one; without effect in literal mode
                         * @default AND
                         * @enum {string}
                         */
                        op?: "AND" | "OR";
                        container?: {
                            session_id?: string;
                            agent_id?: string;
                            workspace_id?: string;
                        };
                        /** @enum {string} */
                        role?: "user" | "assistant" | "title";
                        /** @description Milliseconds since the epoch, inclusive */
                        start_time?: number;
                        /** @description Milliseconds since the epoch, inclusive */
                        end_time?: number;
                        /**
                         * @default score
                         * @enum {string}
                         */
                        sort?: "score" | "time_desc" | "time_asc";
                        /** @default 20 */
                        page_size?: number;
                        page_token?: string;
                    };
                };
            };
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: {
                                items: components["schemas"]["SearchHit"][];
                                has_more: boolean;
                                /** @description Present exactly if `has_more` */
                                page_token?: string;
                                /** @enum {string} */
                                incomplete?: "candidate_cap" | "postings_budget" | "deadline";
                                index_state: {
                                    /** @enum {string} */
                                    state: "building" | "ready" | "readonly";
                                    indexed_sessions: number;
                                    total_sessions: number;
                                    documents: number;
                                    /** @constant */
                                    stale?: true;
                                    degraded?: string;
                                };
                                /** @enum {string} */
                                source: "live" | "index";
                            };
                            request_id: string;
                        } | components["schemas"]["Error40001"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List sessions, most recently updated first */
        get: {
            parameters: {
                query?: {
                    before_id?: string;
                    after_id?: string;
                    page_size?: number;
                    busy?: boolean;
                    include_archive?: boolean;
                    archived_only?: boolean;
                    exclude_empty?: boolean;
                    workspace_id?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: {
                                items: components["schemas"]["Session"][];
                                has_more: boolean;
                            };
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error40410"];
                    };
                };
            };
        };
        put?: never;
        /** Create a session */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        workspace_id?: string;
                        metadata?: {
                            cwd?: string;
                        } & {
                            [key: string]: unknown;
                        };
                        title?: string;
                        agent_config?: {
                            model?: string;
                            system_prompt?: string;
                            tools?: string[];
                            mcp_servers?: string[];
                            thinking?: string;
                            /** @enum {string} */
                            permission_mode?: "manual" | "yolo" | "auto";
                            plan_mode?: boolean;
                            swarm_mode?: boolean;
                            goal_objective?: string;
                            /** @enum {string} */
                            goal_control?: "pause" | "resume" | "cancel";
                        };
                        /** @description MCP servers of this session alone, until it is unloaded; they shadow configured ones of the same name */
                        mcp_servers?: ({
                            name: string;
                            /** @constant */
                            transport: "stdio";
                            command: string;
                            args?: string[];
                            cwd?: string;
                            runtime_id?: string;
                            env?: {
                                [key: string]: string;
                            };
                            enabled?: boolean;
                            startupTimeoutMs?: number;
                            toolTimeoutMs?: number;
                            enabledTools?: string[];
                            disabledTools?: string[];
                        } | {
                            name: string;
                            /** @enum {string} */
                            transport: "http" | "sse";
                            url: string;
                            /** @constant */
                            auth?: "oauth";
                            bearerTokenEnvVar?: string;
                            headers?: {
                                [key: string]: string;
                            };
                            enabled?: boolean;
                            startupTimeoutMs?: number;
                            toolTimeoutMs?: number;
                            enabledTools?: string[];
                            disabledTools?: string[];
                        })[];
                        /** @description Absolute directories that extend the workspace for this session, until it is unloaded */
                        additional_dirs?: string[];
                    };
                };
            };
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: components["schemas"]["Session"];
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error40409"] | components["schemas"]["Error40410"] | components["schemas"]["Error40411"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{session_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a session without loading it */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    session_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: components["schemas"]["Session"];
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error40401"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{session_id}:abort": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Cancel the running turn of the main agent, or the compaction of its conversation */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    session_id: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": {
                        [key: string]: unknown;
                    };
                };
            };
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: {
                                /** @constant */
                                aborted: true;
                            };
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error40401"] | components["schemas"]["Error40901"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{session_id}:archive": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Archive a session */
        post: operations["runSessionArchiveAction"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{session_id}:btw": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Open a side conversation: a read-only agent on a copy of the main one, addressed by its id in prompts */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    session_id: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": {
                        [key: string]: unknown;
                    };
                };
            };
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: {
                                agent_id: string;
                            };
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error40110"] | components["schemas"]["Error40111"] | components["schemas"]["Error40112"] | components["schemas"]["Error40113"] | components["schemas"]["Error40401"] | components["schemas"]["Error40901"] | components["schemas"]["Error50003"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{session_id}:compact": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Compact the conversation of the main agent to a summary; `compaction.*` events report the progress */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    session_id: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": {
                        /** @description The most important points for the summary; ignored if blank */
                        instruction?: string;
                    };
                };
            };
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: Record<string, never>;
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error40401"] | components["schemas"]["Error40901"] | components["schemas"]["Error40910"] | components["schemas"]["Error50003"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{session_id}:fork": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Create a session as a copy of this one */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    session_id: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": {
                        title?: string;
                        metadata?: {
                            [key: string]: unknown;
                        };
                    };
                };
            };
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: components["schemas"]["Session"];
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error40401"] | components["schemas"]["Error40901"] | components["schemas"]["Error50003"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{session_id}:restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Un-archive a session and load it */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    session_id: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": {
                        [key: string]: unknown;
                    };
                };
            };
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: components["schemas"]["Session"];
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error40401"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{session_id}:undo": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Undo the last turns of the conversation; their effects on files and tasks remain */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    session_id: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": {
                        count?: number;
                        page_size?: number;
                    };
                };
            };
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: {
                                messages: {
                                    items: components["schemas"]["Message"][];
                                    has_more: boolean;
                                };
                                status: components["schemas"]["SessionStatus"];
                            };
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error40401"] | components["schemas"]["Error40901"] | {
                            /** @constant */
                            code: 40911;
                            msg: string;
                            data: {
                                /** @enum {string} */
                                reason: "empty" | "insufficient" | "compaction_boundary";
                                requestedCount: number;
                                undoableCount: number;
                            };
                            request_id: string;
                        } | components["schemas"]["Error50003"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{session_id}/approvals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Pending approvals of all agents, oldest first */
        get: {
            parameters: {
                query: {
                    status: "pending";
                };
                header?: never;
                path: {
                    session_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: {
                                items: components["schemas"]["ApprovalRequest"][];
                            };
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error40401"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{session_id}/approvals/{approval_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Answer an approval; the first answer wins */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    session_id: string;
                    approval_id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        /** @enum {string} */
                        decision: "approved" | "rejected" | "cancelled";
                        /** @constant */
                        scope?: "session";
                        feedback?: string;
                        selected_label?: string;
                    };
                };
            };
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: {
                                /** @constant */
                                resolved: true;
                                resolved_at: string;
                            };
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error40401"] | components["schemas"]["Error40404"] | components["schemas"]["Error40901"] | {
                            /** @constant */
                            code: 40902;
                            msg: string;
                            data: {
                                /** @constant */
                                resolved: false;
                            };
                            request_id: string;
                        } | components["schemas"]["Error41001"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{session_id}/children": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the children of a session, most recently updated first */
        get: {
            parameters: {
                query?: {
                    before_id?: string;
                    after_id?: string;
                    page_size?: number;
                    busy?: boolean;
                };
                header?: never;
                path: {
                    session_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: {
                                items: components["schemas"]["Session"][];
                                has_more: boolean;
                            };
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error40401"];
                    };
                };
            };
        };
        put?: never;
        /** Create a child session: a copy of this one that is listed as its child */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    session_id: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": {
                        title?: string;
                        metadata?: {
                            [key: string]: unknown;
                        };
                    };
                };
            };
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: components["schemas"]["Session"];
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error40401"] | components["schemas"]["Error40901"] | components["schemas"]["Error50003"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{session_id}/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Download a session as a zip archive */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    session_id: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": {
                        web_log?: string;
                        desktop?: boolean;
                    };
                };
            };
            responses: {
                /** @description Success */
                200: {
                    headers: {
                        "content-disposition"?: string;
                        "content-length"?: string;
                        "cache-control"?: string;
                        [name: string]: unknown;
                    };
                    content: {
                        "application/zip": string;
                        "application/json": components["schemas"]["Error40001"] | components["schemas"]["Error40401"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{session_id}/fs/{path}:download": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The bytes of a file */
        get: operations["downloadFile"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{session_id}/fs:diff": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * How a file or directory differs from the last commit, as a unified diff
         * @description Cut at 1 MiB. Without untracked files of a directory.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    session_id: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": {
                        /** @default local */
                        runtime_id?: string;
                        path: string;
                    };
                };
            };
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: components["schemas"]["GitDiff"];
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error40401"] | components["schemas"]["Error40409"] | components["schemas"]["Error40411"] | components["schemas"]["Error40420"] | components["schemas"]["Error40906"] | components["schemas"]["Error40908"] | components["schemas"]["Error40919"] | components["schemas"]["Error40926"] | components["schemas"]["Error41304"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{session_id}/fs:git_status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Changes since the last commit, branch and pull request
         * @description `paths` filter the entries: files, or directories with their whole content.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    session_id: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": {
                        /** @default local */
                        runtime_id?: string;
                        paths?: string[];
                    };
                };
            };
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: components["schemas"]["GitStatusReply"];
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error40401"] | components["schemas"]["Error40420"] | components["schemas"]["Error40908"] | components["schemas"]["Error40926"] | components["schemas"]["Error41304"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{session_id}/fs:grep": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Search the contents of files
         * @description With ripgrep; `regex` is in the syntax of Rust. Hidden files are searched when an include glob names them.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    session_id: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": {
                        /** @default local */
                        runtime_id?: string;
                        pattern: string;
                        /** @default false */
                        regex?: boolean;
                        /** @default true */
                        case_sensitive?: boolean;
                        include_globs?: string[];
                        exclude_globs?: string[];
                        /** @default true */
                        follow_gitignore?: boolean;
                        /** @default 200 */
                        max_files?: number;
                        /** @default 50 */
                        max_matches_per_file?: number;
                        /** @default 5000 */
                        max_total_matches?: number;
                        /** @default 2 */
                        context_lines?: number;
                    };
                };
            };
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: components["schemas"]["GrepReply"];
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error40401"] | components["schemas"]["Error40409"] | components["schemas"]["Error40411"] | components["schemas"]["Error40420"] | components["schemas"]["Error40926"] | components["schemas"]["Error41304"] | components["schemas"]["Error41305"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{session_id}/fs:list": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** List a directory */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    session_id: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": {
                        /** @default local */
                        runtime_id?: string;
                        /** @default . */
                        path?: string;
                        /** @default 1 */
                        depth?: number;
                        /** @default 200 */
                        limit?: number;
                        /** @default false */
                        show_hidden?: boolean;
                        /** @default true */
                        follow_gitignore?: boolean;
                        exclude_globs?: string[];
                        /** @default false */
                        include_git_status?: boolean;
                        /**
                         * @default type_first
                         * @enum {string}
                         */
                        sort?: "type_first" | "name_asc" | "name_desc" | "mtime_desc" | "size_desc";
                        allow_ignored_globs?: string[];
                    };
                };
            };
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: components["schemas"]["FileList"];
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error40401"] | components["schemas"]["Error40409"] | components["schemas"]["Error40411"] | components["schemas"]["Error40420"] | components["schemas"]["Error40926"] | components["schemas"]["Error41304"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{session_id}/fs:list_many": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** List many directories */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    session_id: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": {
                        /** @default local */
                        runtime_id?: string;
                        paths: string[];
                        /** @default 1 */
                        depth?: number;
                        /** @default 200 */
                        limit?: number;
                        /** @default false */
                        show_hidden?: boolean;
                        /** @default true */
                        follow_gitignore?: boolean;
                        exclude_globs?: string[];
                        /** @default false */
                        include_git_status?: boolean;
                        /**
                         * @default type_first
                         * @enum {string}
                         */
                        sort?: "type_first" | "name_asc" | "name_desc" | "mtime_desc" | "size_desc";
                    };
                };
            };
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: components["schemas"]["FileLists"];
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error40401"] | components["schemas"]["Error40420"] | components["schemas"]["Error40926"] | components["schemas"]["Error41304"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{session_id}/fs:mkdir": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Make a directory */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    session_id: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": {
                        /** @default local */
                        runtime_id?: string;
                        path: string;
                        /** @default false */
                        recursive?: boolean;
                    };
                };
            };
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: components["schemas"]["FileEntry"];
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error40401"] | components["schemas"]["Error40409"] | components["schemas"]["Error40411"] | components["schemas"]["Error40420"] | components["schemas"]["Error40919"] | components["schemas"]["Error40926"] | components["schemas"]["Error41304"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{session_id}/fs:open": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Open a file or directory on the machine of the server, in the editor that the user has set */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    session_id: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": {
                        /** @default local */
                        runtime_id?: string;
                        path: string;
                        line?: number;
                    };
                };
            };
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: {
                                /** @constant */
                                opened: true;
                            };
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error40401"] | components["schemas"]["Error40409"] | components["schemas"]["Error40411"] | components["schemas"]["Error40420"] | components["schemas"]["Error40926"] | components["schemas"]["Error41304"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{session_id}/fs:open-in": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Open a file or directory in a given program on the machine of the server */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    session_id: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": {
                        /** @default local */
                        runtime_id?: string;
                        /** @enum {string} */
                        app_id: "finder" | "cursor" | "vscode" | "iterm" | "terminal";
                        path: string;
                        line?: number;
                    };
                };
            };
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: {
                                /** @constant */
                                opened: true;
                            };
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error40401"] | components["schemas"]["Error40409"] | components["schemas"]["Error40411"] | components["schemas"]["Error40420"] | components["schemas"]["Error40926"] | components["schemas"]["Error41304"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{session_id}/fs:read": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Read a range of a file, as text if possible */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    session_id: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": {
                        /** @default local */
                        runtime_id?: string;
                        path: string;
                        /** @default 0 */
                        offset?: number;
                        /** @default 1048576 */
                        length?: number;
                        /**
                         * @default auto
                         * @enum {string}
                         */
                        encoding?: "auto" | "utf-8" | "base64";
                    };
                };
            };
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: components["schemas"]["FileContent"];
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error40401"] | components["schemas"]["Error40409"] | components["schemas"]["Error40411"] | components["schemas"]["Error40420"] | components["schemas"]["Error40906"] | components["schemas"]["Error40907"] | components["schemas"]["Error40926"] | components["schemas"]["Error41302"] | components["schemas"]["Error41304"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{session_id}/fs:reveal": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Show a file or directory in the file manager on the machine of the server */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    session_id: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": {
                        /** @default local */
                        runtime_id?: string;
                        path: string;
                    };
                };
            };
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: {
                                /** @constant */
                                revealed: true;
                            };
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error40401"] | components["schemas"]["Error40409"] | components["schemas"]["Error40411"] | components["schemas"]["Error40420"] | components["schemas"]["Error40926"] | components["schemas"]["Error41304"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{session_id}/fs:search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Find files by parts of their names, best first
         * @description The session id may be replaced by the id of a workspace or the path of its root.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    session_id: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": {
                        /** @default local */
                        runtime_id?: string;
                        query: string;
                        /** @default 50 */
                        limit?: number;
                        include_globs?: string[];
                        exclude_globs?: string[];
                        /** @default true */
                        follow_gitignore?: boolean;
                    };
                };
            };
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: components["schemas"]["FileHits"];
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error40401"] | components["schemas"]["Error40409"] | components["schemas"]["Error40411"] | components["schemas"]["Error40420"] | components["schemas"]["Error40926"] | components["schemas"]["Error41304"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{session_id}/fs:stat": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Metadata of a file, directory or link */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    session_id: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": {
                        /** @default local */
                        runtime_id?: string;
                        path: string;
                    };
                };
            };
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: components["schemas"]["FileEntry"];
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error40401"] | components["schemas"]["Error40409"] | components["schemas"]["Error40411"] | components["schemas"]["Error40420"] | components["schemas"]["Error40926"] | components["schemas"]["Error41304"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{session_id}/fs:stat_many": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Metadata of many paths */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    session_id: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": {
                        /** @default local */
                        runtime_id?: string;
                        paths: string[];
                    };
                };
            };
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: {
                                entries: {
                                    [key: string]: components["schemas"]["FileEntry"] | null;
                                };
                            };
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error40401"] | components["schemas"]["Error40420"] | components["schemas"]["Error40926"] | components["schemas"]["Error41304"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{session_id}/goal": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the goal of the main agent */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    session_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: components["schemas"]["Goal"] | null;
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error40401"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{session_id}/media/{file_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Download a file that a prompt of the session references */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    session_id: string;
                    file_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Success */
                200: {
                    headers: {
                        "content-disposition"?: string;
                        "content-length"?: string;
                        etag?: string;
                        [name: string]: unknown;
                    };
                    content: {
                        "application/octet-stream": string;
                        "application/json": components["schemas"]["Error40001"];
                    };
                };
                /** @description A part of it */
                206: {
                    headers: {
                        "content-disposition"?: string;
                        "content-length"?: string;
                        etag?: string;
                        "content-range"?: string;
                        [name: string]: unknown;
                    };
                    content: {
                        "application/octet-stream": string;
                    };
                };
                /** @description Failure */
                404: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Error40401"] | components["schemas"]["Error40407"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{session_id}/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Page through the messages of the main agent, newest first */
        get: {
            parameters: {
                query?: {
                    before_id?: string;
                    after_id?: string;
                    page_size?: number;
                    role?: "user" | "assistant" | "tool" | "system";
                };
                header?: never;
                path: {
                    session_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: {
                                items: components["schemas"]["Message"][];
                                has_more: boolean;
                            };
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error40401"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{session_id}/messages/{message_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read one message */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    session_id: string;
                    message_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: components["schemas"]["Message"];
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error40401"] | components["schemas"]["Error40403"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{session_id}/profile": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the profile of a session: the same object as the session itself */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    session_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: components["schemas"]["Session"];
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error40401"];
                    };
                };
            };
        };
        put?: never;
        /** Change title, metadata and agent settings of a session */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    session_id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        title?: string;
                        metadata?: {
                            cwd?: string;
                        } & {
                            [key: string]: unknown;
                        };
                        agent_config?: {
                            model?: string;
                            system_prompt?: string;
                            tools?: string[];
                            mcp_servers?: string[];
                            thinking?: string;
                            /** @enum {string} */
                            permission_mode?: "manual" | "yolo" | "auto";
                            plan_mode?: boolean;
                            swarm_mode?: boolean;
                            goal_objective?: string;
                            /** @enum {string} */
                            goal_control?: "pause" | "resume" | "cancel";
                        };
                        permission_rules?: {
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
                        /** @description MCP servers of this session alone, until it is unloaded; they shadow configured ones of the same name */
                        mcp_servers?: ({
                            name: string;
                            /** @constant */
                            transport: "stdio";
                            command: string;
                            args?: string[];
                            cwd?: string;
                            runtime_id?: string;
                            env?: {
                                [key: string]: string;
                            };
                            enabled?: boolean;
                            startupTimeoutMs?: number;
                            toolTimeoutMs?: number;
                            enabledTools?: string[];
                            disabledTools?: string[];
                        } | {
                            name: string;
                            /** @enum {string} */
                            transport: "http" | "sse";
                            url: string;
                            /** @constant */
                            auth?: "oauth";
                            bearerTokenEnvVar?: string;
                            headers?: {
                                [key: string]: string;
                            };
                            enabled?: boolean;
                            startupTimeoutMs?: number;
                            toolTimeoutMs?: number;
                            enabledTools?: string[];
                            disabledTools?: string[];
                        })[];
                        /** @description Absolute directories that extend the workspace for this session, until it is unloaded */
                        additional_dirs?: string[];
                    };
                };
            };
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: components["schemas"]["Session"];
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error40401"] | components["schemas"]["Error40409"] | components["schemas"]["Error40411"] | components["schemas"]["Error40901"] | components["schemas"]["Error40913"] | components["schemas"]["Error40914"] | components["schemas"]["Error40915"] | components["schemas"]["Error40917"] | components["schemas"]["Error40918"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{session_id}/prompts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The running prompt of the main agent and the queued ones */
        get: operations["listPrompts"];
        put?: never;
        /** Submit a prompt; the reply is sent when it is running or queued */
        post: operations["submitPrompt"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{session_id}/prompts/{prompt_id}:abort": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Cancel a running prompt or remove a queued one */
        post: operations["abortPrompt"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{session_id}/prompts/{prompt_id}:steer": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Move a queued prompt into the running turn */
        post: operations["steerPrompt"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{session_id}/prompts:steer": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Move queued prompts into the running turn */
        post: operations["steerPrompts"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{session_id}/questions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Pending questions of all agents, oldest first */
        get: {
            parameters: {
                query: {
                    status: "pending";
                };
                header?: never;
                path: {
                    session_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: {
                                items: components["schemas"]["QuestionRequest"][];
                            };
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error40401"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{session_id}/questions/{question_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Answer a question; the first answer wins */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    session_id: string;
                    question_id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        answers: {
                            [key: string]: {
                                /** @constant */
                                kind: "single";
                                option_id: string;
                            } | {
                                /** @constant */
                                kind: "multi";
                                option_ids: string[];
                            } | {
                                /** @constant */
                                kind: "other";
                                text: string;
                            } | {
                                /** @constant */
                                kind: "multi_with_other";
                                option_ids: string[];
                                other_text: string;
                            } | {
                                /** @constant */
                                kind: "skipped";
                            };
                        };
                        /** @enum {string} */
                        method?: "enter" | "space" | "number_key" | "click";
                        note?: string;
                    };
                };
            };
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: {
                                /** @constant */
                                resolved: true;
                                resolved_at: string;
                            };
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error40401"] | components["schemas"]["Error40405"] | components["schemas"]["Error40901"] | {
                            /** @constant */
                            code: 40902;
                            msg: string;
                            data: {
                                /** @constant */
                                resolved: false;
                            };
                            request_id: string;
                        } | components["schemas"]["Error41002"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{session_id}/questions/{question_id}:dismiss": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Dismiss a question; the reply has code 40909 */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    session_id: string;
                    question_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: unknown;
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error40401"] | components["schemas"]["Error40405"] | components["schemas"]["Error40901"] | {
                            /** @constant */
                            code: 40902;
                            msg: string;
                            data: {
                                /** @constant */
                                resolved: false;
                            };
                            request_id: string;
                        } | {
                            /** @constant */
                            code: 40909;
                            msg: string;
                            data: {
                                /** @constant */
                                dismissed: true;
                                dismissed_at: string;
                            };
                            request_id: string;
                        } | components["schemas"]["Error41002"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{session_id}/runtime": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read which runtime the main agent works on */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    session_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: {
                                workspace_id: string;
                                runtime_id: string;
                            };
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error40401"];
                    };
                };
            };
        };
        put?: never;
        /** Switch the runtime of the main agent, from its next call on */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    session_id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        runtime_id: string;
                    };
                };
            };
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: {
                                workspace_id: string;
                                runtime_id: string;
                            };
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error40401"] | components["schemas"]["Error40420"] | components["schemas"]["Error40901"] | components["schemas"]["Error40926"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{session_id}/skills": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The skills and slash commands of a session; loads the session */
        get: operations["listSkills"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{session_id}/skills/{skill_name}:activate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Activate a skill or the command of a plugin; the reply is sent when it runs or waits */
        post: operations["activateSkill"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{session_id}/snapshot": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The state from which a client rebuilds its view, with the cursor to continue from */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    session_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: components["schemas"]["SessionSnapshot"];
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error40401"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{session_id}/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Status rollup of a session: activity, model, modes, context size */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    session_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: components["schemas"]["SessionStatus"];
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error40401"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{session_id}/tasks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the tasks of the main agent; empty for a session that is not loaded */
        get: {
            parameters: {
                query?: {
                    status?: "running" | "completed" | "failed" | "cancelled";
                };
                header?: never;
                path: {
                    session_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: {
                                items: components["schemas"]["Task"][];
                            };
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error40401"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{session_id}/tasks/{task_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a task, with the end of its output on request */
        get: {
            parameters: {
                query?: {
                    with_output?: boolean;
                    output_bytes?: number;
                };
                header?: never;
                path: {
                    session_id: string;
                    task_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: components["schemas"]["Task"];
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error40401"] | components["schemas"]["Error40406"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{session_id}/tasks/{task_id}:cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Stop a running task and wait for its end */
        post: operations["cancelTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{session_id}/tasks/{task_id}:detach": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Move a task that a call waits for to the background */
        post: operations["detachTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{session_id}/terminals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the terminals of a session, running and exited, in the order of their start */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    session_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: {
                                items: {
                                    id: string;
                                    session_id: string;
                                    cwd: string;
                                    shell: string;
                                    cols: number;
                                    rows: number;
                                    /** @enum {string} */
                                    status: "running" | "exited";
                                    created_at: string;
                                    exited_at?: string;
                                    exit_code?: number | null;
                                }[];
                            };
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error40401"] | components["schemas"]["Error40926"];
                    };
                };
            };
        };
        put?: never;
        /** Start a terminal in the directory of a session */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    session_id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        /** @default local */
                        runtime_id?: string;
                        /** @default . */
                        cwd?: string;
                        shell?: string;
                        /** @default 80 */
                        cols?: number;
                        /** @default 24 */
                        rows?: number;
                    };
                };
            };
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: {
                                id: string;
                                session_id: string;
                                cwd: string;
                                shell: string;
                                cols: number;
                                rows: number;
                                /** @enum {string} */
                                status: "running" | "exited";
                                created_at: string;
                                exited_at?: string;
                                exit_code?: number | null;
                            };
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error40401"] | components["schemas"]["Error40409"] | components["schemas"]["Error40420"] | components["schemas"]["Error40926"] | components["schemas"]["Error41304"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{session_id}/terminals/{terminal_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a terminal */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    session_id: string;
                    terminal_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: {
                                id: string;
                                session_id: string;
                                cwd: string;
                                shell: string;
                                cols: number;
                                rows: number;
                                /** @enum {string} */
                                status: "running" | "exited";
                                created_at: string;
                                exited_at?: string;
                                exit_code?: number | null;
                            };
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error40401"] | components["schemas"]["Error40414"] | components["schemas"]["Error40926"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{session_id}/terminals/{terminal_id}:close": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** End a terminal and its program */
        post: operations["closeTerminal"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{session_id}/title/generate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Generate a title from the conversation */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    session_id: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": {
                        /** @default false */
                        force?: boolean;
                        /**
                         * @default user_prompts
                         * @enum {string}
                         */
                        source?: "user_prompts" | "first_turn" | "digest";
                    };
                };
            };
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: {
                                title: string;
                            };
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error40401"] | components["schemas"]["Error40901"] | components["schemas"]["Error40923"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{session_id}/transcript": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Page through an agent's transcript, newest turns first */
        get: {
            parameters: {
                query: {
                    agent_id: string;
                    before_turn?: string;
                    after_turn?: string;
                    before_id?: string;
                    after_id?: string;
                    page_size?: number;
                };
                header?: never;
                path: {
                    session_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: {
                                agent_id: string;
                                items: components["schemas"]["TranscriptItem"][];
                                has_more: boolean;
                                tasks: components["schemas"]["TranscriptTask"][];
                                interactions: components["schemas"]["TranscriptInteraction"][];
                                attachments: components["schemas"]["TranscriptAttachment"][];
                                todos: components["schemas"]["TranscriptTodo"][];
                                prompts: components["schemas"]["TranscriptPrompt"][];
                                meta: components["schemas"]["TranscriptMeta"];
                                agents: components["schemas"]["TranscriptAgent"][];
                                pending_interactions: string[];
                                seq?: number;
                            };
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error40401"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{session_id}/transcript/ops": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the operations that changed an agent's transcript since a batch */
        get: {
            parameters: {
                query: {
                    agent_id: string;
                    since_seq: number;
                };
                header?: never;
                path: {
                    session_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: {
                                agent_id: string;
                                batches: components["schemas"]["TranscriptBatch"][];
                                latest_seq: number;
                                complete: boolean;
                            };
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error40401"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{session_id}/transcript/plan": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the plans that an agent submitted for review */
        get: {
            parameters: {
                query: {
                    agent_id: string;
                    tool_call_id?: string;
                };
                header?: never;
                path: {
                    session_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: {
                                agent_id: string;
                                plans: {
                                    tool_call_id: string;
                                    turn_id: string;
                                    /** @enum {string} */
                                    source: "interaction" | "display" | "output";
                                    plan: string;
                                    path?: string;
                                    options?: {
                                        label: string;
                                        description?: string;
                                    }[];
                                    review?: {
                                        state: string;
                                        selected_option?: string;
                                        feedback?: string;
                                    };
                                }[];
                            };
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error40401"] | components["schemas"]["Error40416"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{session_id}/transcript/user-messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the inputs that opened the turns of an agent, or of all */
        get: {
            parameters: {
                query?: {
                    agent_id?: string;
                };
                header?: never;
                path: {
                    session_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: {
                                agents: {
                                    agent_id: string;
                                    messages: {
                                        turn_id: string;
                                        ordinal: number;
                                        /** @enum {string} */
                                        state: "queued" | "running" | "completed" | "failed" | "cancelled";
                                        origin: components["schemas"]["TurnOrigin"];
                                        prompt: string;
                                        attachment_ids?: string[];
                                        started_at?: string;
                                    }[];
                                    attachments: components["schemas"]["TranscriptAttachment"][];
                                }[];
                            };
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error40401"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{session_id}/warnings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Warnings about the session, such as oversized instruction files */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    session_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: {
                                warnings: {
                                    code: string;
                                    message: string;
                                    /** @enum {string} */
                                    severity: "info" | "warning" | "error";
                                    directory?: string;
                                }[];
                            };
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error40401"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/shutdown": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Stop the server */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: {
                                /** @constant */
                                ok: true;
                            };
                            request_id: string;
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tools": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Tools of a loaded session, by default of the one created last */
        get: {
            parameters: {
                query?: {
                    session_id?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: {
                                tools: components["schemas"]["ToolDescriptor"][];
                            };
                            request_id: string;
                        } | components["schemas"]["Error40001"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workspace/fs:search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Find files of a workspace by parts of their names, best first */
        post: operations["workspaceFsSearch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workspace/fs:suggest": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Complete the name of a file of a workspace */
        post: operations["workspaceFsSuggest"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workspaces": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the registered project directories, in the order of registration */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: {
                                items: components["schemas"]["Workspace"][];
                            };
                            request_id: string;
                        };
                    };
                };
            };
        };
        put?: never;
        /** Register a project directory, or open a registered one again */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        root: string;
                        name?: string;
                    };
                };
            };
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: components["schemas"]["Workspace"];
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error40409"] | components["schemas"]["Error40411"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workspaces/{workspace_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Unregister a workspace; its sessions and files stay */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    workspace_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: {
                                /** @constant */
                                deleted: true;
                            };
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error40410"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        /** Rename a workspace */
        patch: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    workspace_id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        name: string;
                    };
                };
            };
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: components["schemas"]["Workspace"];
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error40410"];
                    };
                };
            };
        };
        trace?: never;
    };
    "/api/v1/workspaces/{workspace_id}/add-dir": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Add a directory to a workspace
         * @description Stored in the local configuration of the project, or kept until the server exits.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    workspace_id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        path: string;
                        /** @default true */
                        persist?: boolean;
                    };
                };
            };
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: {
                                project_root: string;
                                config_path: string;
                                additional_dirs: string[];
                                persisted: boolean;
                            };
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error40409"] | components["schemas"]["Error40410"] | components["schemas"]["Error40411"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workspaces/{workspace_id}/skills": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The skills and slash commands of a workspace, without a session */
        get: operations["listWorkspaceSkills"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workspaces/{workspace_id}/trust": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Whether a workspace is trusted */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    workspace_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: {
                                trusted: boolean;
                            };
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error40410"];
                    };
                };
            };
        };
        put?: never;
        /** Trust a workspace */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    workspace_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: {
                                trusted: boolean;
                            };
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error40410"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workspaces/{workspace_id}/untrust": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Revoke the trust of a workspace */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    workspace_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: {
                                trusted: boolean;
                            };
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error40410"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/mcp/auth-statuses": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List which configured MCP servers need a sign-in
         * @description `verify`: true probes all servers that may need a sign-in, false none; default: those of unknown status.
         */
        get: {
            parameters: {
                query?: {
                    cwd?: string;
                    verify?: "true" | "false";
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: {
                                name: string;
                                /** @enum {string} */
                                authStatus: "not-applicable" | "bearer-token" | "oauth-required" | "oauth-authorized" | "oauth-expired" | "unavailable";
                            }[];
                            request_id: string;
                        } | components["schemas"]["Error40001"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/mcp/auth:begin": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Begin a sign-in to an MCP server */
        post: {
            parameters: {
                query?: {
                    cwd?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        /** @constant */
                        source: "global";
                        name: string;
                        cwd?: string;
                    } | {
                        /** @constant */
                        source: "plugin";
                        pluginId: string;
                        serverName: string;
                        cwd?: string;
                    };
                };
            };
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: {
                                /** @constant */
                                status: "authorization-required";
                                flowId: string;
                                authorizationUrl: string;
                            } | {
                                /** @constant */
                                status: "already-authorized";
                            };
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error40408"] | components["schemas"]["Error40929"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/mcp/auth:cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Cancel a sign-in */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        flowId: string;
                    };
                };
            };
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: null;
                            request_id: string;
                        } | components["schemas"]["Error40001"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/mcp/auth:complete": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Wait until a sign-in has completed
         * @description If the client disconnects, the sign-in is cancelled. `redirectUrl` is the address to which a browser on another machine was redirected.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        flowId: string;
                        timeoutMs?: number;
                        redirectUrl?: string;
                    };
                };
            };
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: null;
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error40929"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/mcp/auth:reset": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Remove the sign-in to an MCP server */
        post: {
            parameters: {
                query?: {
                    cwd?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        /** @constant */
                        source: "global";
                        name: string;
                        cwd?: string;
                    } | {
                        /** @constant */
                        source: "plugin";
                        pluginId: string;
                        serverName: string;
                        cwd?: string;
                    };
                };
            };
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: null;
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error40408"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/mcp/servers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the configured MCP servers */
        get: {
            parameters: {
                query?: {
                    cwd?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: {
                                name: string;
                                config: {
                                    /** @constant */
                                    transport: "stdio";
                                    command: string;
                                    args?: string[];
                                    cwd?: string;
                                    runtime_id?: string;
                                    env?: {
                                        [key: string]: string;
                                    };
                                    enabled?: boolean;
                                    startupTimeoutMs?: number;
                                    toolTimeoutMs?: number;
                                    enabledTools?: string[];
                                    disabledTools?: string[];
                                } | {
                                    /** @enum {string} */
                                    transport: "http" | "sse";
                                    url: string;
                                    /** @constant */
                                    auth?: "oauth";
                                    bearerTokenEnvVar?: string;
                                    headers?: {
                                        [key: string]: string;
                                    };
                                    enabled?: boolean;
                                    startupTimeoutMs?: number;
                                    toolTimeoutMs?: number;
                                    enabledTools?: string[];
                                    disabledTools?: string[];
                                } | ({
                                    /** @constant */
                                    transport: "stdio";
                                    command: string;
                                    args?: string[];
                                    cwd?: string;
                                    runtime_id?: string;
                                    enabled?: boolean;
                                    startupTimeoutMs?: number;
                                    toolTimeoutMs?: number;
                                    enabledTools?: string[];
                                    disabledTools?: string[];
                                    envKeys?: string[];
                                } | {
                                    /** @enum {string} */
                                    transport: "http" | "sse";
                                    url: string;
                                    /** @constant */
                                    auth?: "oauth";
                                    bearerTokenEnvVar?: string;
                                    enabled?: boolean;
                                    startupTimeoutMs?: number;
                                    toolTimeoutMs?: number;
                                    enabledTools?: string[];
                                    disabledTools?: string[];
                                    headerKeys?: string[];
                                });
                                /** @enum {string} */
                                source: "global" | "plugin";
                                origin: string;
                                mutable: boolean;
                                plugin?: {
                                    id: string;
                                    name: string;
                                };
                            }[];
                            request_id: string;
                        } | components["schemas"]["Error40001"];
                    };
                };
            };
        };
        put?: never;
        /** Add an MCP server to the user's file */
        post: {
            parameters: {
                query?: {
                    cwd?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        name: string;
                        /** @constant */
                        transport: "stdio";
                        command: string;
                        args?: string[];
                        cwd?: string;
                        runtime_id?: string;
                        env?: {
                            [key: string]: string;
                        };
                        enabled?: boolean;
                        startupTimeoutMs?: number;
                        toolTimeoutMs?: number;
                        enabledTools?: string[];
                        disabledTools?: string[];
                    } | {
                        name: string;
                        /** @enum {string} */
                        transport: "http" | "sse";
                        url: string;
                        /** @constant */
                        auth?: "oauth";
                        bearerTokenEnvVar?: string;
                        headers?: {
                            [key: string]: string;
                        };
                        enabled?: boolean;
                        startupTimeoutMs?: number;
                        toolTimeoutMs?: number;
                        enabledTools?: string[];
                        disabledTools?: string[];
                    };
                };
            };
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: {
                                name: string;
                                config: {
                                    /** @constant */
                                    transport: "stdio";
                                    command: string;
                                    args?: string[];
                                    cwd?: string;
                                    runtime_id?: string;
                                    env?: {
                                        [key: string]: string;
                                    };
                                    enabled?: boolean;
                                    startupTimeoutMs?: number;
                                    toolTimeoutMs?: number;
                                    enabledTools?: string[];
                                    disabledTools?: string[];
                                } | {
                                    /** @enum {string} */
                                    transport: "http" | "sse";
                                    url: string;
                                    /** @constant */
                                    auth?: "oauth";
                                    bearerTokenEnvVar?: string;
                                    headers?: {
                                        [key: string]: string;
                                    };
                                    enabled?: boolean;
                                    startupTimeoutMs?: number;
                                    toolTimeoutMs?: number;
                                    enabledTools?: string[];
                                    disabledTools?: string[];
                                } | ({
                                    /** @constant */
                                    transport: "stdio";
                                    command: string;
                                    args?: string[];
                                    cwd?: string;
                                    runtime_id?: string;
                                    enabled?: boolean;
                                    startupTimeoutMs?: number;
                                    toolTimeoutMs?: number;
                                    enabledTools?: string[];
                                    disabledTools?: string[];
                                    envKeys?: string[];
                                } | {
                                    /** @enum {string} */
                                    transport: "http" | "sse";
                                    url: string;
                                    /** @constant */
                                    auth?: "oauth";
                                    bearerTokenEnvVar?: string;
                                    enabled?: boolean;
                                    startupTimeoutMs?: number;
                                    toolTimeoutMs?: number;
                                    enabledTools?: string[];
                                    disabledTools?: string[];
                                    headerKeys?: string[];
                                });
                                /** @enum {string} */
                                source: "global" | "plugin";
                                origin: string;
                                mutable: boolean;
                                plugin?: {
                                    id: string;
                                    name: string;
                                };
                            }[];
                            request_id: string;
                        } | components["schemas"]["Error40001"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/mcp/servers/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a configured MCP server */
        get: {
            parameters: {
                query?: {
                    cwd?: string;
                };
                header?: never;
                path: {
                    name: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: {
                                name: string;
                                config: {
                                    /** @constant */
                                    transport: "stdio";
                                    command: string;
                                    args?: string[];
                                    cwd?: string;
                                    runtime_id?: string;
                                    env?: {
                                        [key: string]: string;
                                    };
                                    enabled?: boolean;
                                    startupTimeoutMs?: number;
                                    toolTimeoutMs?: number;
                                    enabledTools?: string[];
                                    disabledTools?: string[];
                                } | {
                                    /** @enum {string} */
                                    transport: "http" | "sse";
                                    url: string;
                                    /** @constant */
                                    auth?: "oauth";
                                    bearerTokenEnvVar?: string;
                                    headers?: {
                                        [key: string]: string;
                                    };
                                    enabled?: boolean;
                                    startupTimeoutMs?: number;
                                    toolTimeoutMs?: number;
                                    enabledTools?: string[];
                                    disabledTools?: string[];
                                } | ({
                                    /** @constant */
                                    transport: "stdio";
                                    command: string;
                                    args?: string[];
                                    cwd?: string;
                                    runtime_id?: string;
                                    enabled?: boolean;
                                    startupTimeoutMs?: number;
                                    toolTimeoutMs?: number;
                                    enabledTools?: string[];
                                    disabledTools?: string[];
                                    envKeys?: string[];
                                } | {
                                    /** @enum {string} */
                                    transport: "http" | "sse";
                                    url: string;
                                    /** @constant */
                                    auth?: "oauth";
                                    bearerTokenEnvVar?: string;
                                    enabled?: boolean;
                                    startupTimeoutMs?: number;
                                    toolTimeoutMs?: number;
                                    enabledTools?: string[];
                                    disabledTools?: string[];
                                    headerKeys?: string[];
                                });
                                /** @enum {string} */
                                source: "global" | "plugin";
                                origin: string;
                                mutable: boolean;
                                plugin?: {
                                    id: string;
                                    name: string;
                                };
                            };
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error40408"];
                    };
                };
            };
        };
        /**
         * Replace an MCP server of the user's file
         * @description Replaces the whole entry; a name in the body is ignored.
         */
        put: {
            parameters: {
                query?: {
                    cwd?: string;
                };
                header?: never;
                path: {
                    name: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        /** @constant */
                        transport: "stdio";
                        command: string;
                        args?: string[];
                        cwd?: string;
                        runtime_id?: string;
                        env?: {
                            [key: string]: string;
                        };
                        enabled?: boolean;
                        startupTimeoutMs?: number;
                        toolTimeoutMs?: number;
                        enabledTools?: string[];
                        disabledTools?: string[];
                    } | {
                        /** @enum {string} */
                        transport: "http" | "sse";
                        url: string;
                        /** @constant */
                        auth?: "oauth";
                        bearerTokenEnvVar?: string;
                        headers?: {
                            [key: string]: string;
                        };
                        enabled?: boolean;
                        startupTimeoutMs?: number;
                        toolTimeoutMs?: number;
                        enabledTools?: string[];
                        disabledTools?: string[];
                    };
                };
            };
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: {
                                name: string;
                                config: {
                                    /** @constant */
                                    transport: "stdio";
                                    command: string;
                                    args?: string[];
                                    cwd?: string;
                                    runtime_id?: string;
                                    env?: {
                                        [key: string]: string;
                                    };
                                    enabled?: boolean;
                                    startupTimeoutMs?: number;
                                    toolTimeoutMs?: number;
                                    enabledTools?: string[];
                                    disabledTools?: string[];
                                } | {
                                    /** @enum {string} */
                                    transport: "http" | "sse";
                                    url: string;
                                    /** @constant */
                                    auth?: "oauth";
                                    bearerTokenEnvVar?: string;
                                    headers?: {
                                        [key: string]: string;
                                    };
                                    enabled?: boolean;
                                    startupTimeoutMs?: number;
                                    toolTimeoutMs?: number;
                                    enabledTools?: string[];
                                    disabledTools?: string[];
                                } | ({
                                    /** @constant */
                                    transport: "stdio";
                                    command: string;
                                    args?: string[];
                                    cwd?: string;
                                    runtime_id?: string;
                                    enabled?: boolean;
                                    startupTimeoutMs?: number;
                                    toolTimeoutMs?: number;
                                    enabledTools?: string[];
                                    disabledTools?: string[];
                                    envKeys?: string[];
                                } | {
                                    /** @enum {string} */
                                    transport: "http" | "sse";
                                    url: string;
                                    /** @constant */
                                    auth?: "oauth";
                                    bearerTokenEnvVar?: string;
                                    enabled?: boolean;
                                    startupTimeoutMs?: number;
                                    toolTimeoutMs?: number;
                                    enabledTools?: string[];
                                    disabledTools?: string[];
                                    headerKeys?: string[];
                                });
                                /** @enum {string} */
                                source: "global" | "plugin";
                                origin: string;
                                mutable: boolean;
                                plugin?: {
                                    id: string;
                                    name: string;
                                };
                            }[];
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error40408"];
                    };
                };
            };
        };
        post?: never;
        /**
         * Remove an MCP server from the user's file
         * @description A stored sign-in is not removed.
         */
        delete: {
            parameters: {
                query?: {
                    cwd?: string;
                };
                header?: never;
                path: {
                    name: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: {
                                name: string;
                                config: {
                                    /** @constant */
                                    transport: "stdio";
                                    command: string;
                                    args?: string[];
                                    cwd?: string;
                                    runtime_id?: string;
                                    env?: {
                                        [key: string]: string;
                                    };
                                    enabled?: boolean;
                                    startupTimeoutMs?: number;
                                    toolTimeoutMs?: number;
                                    enabledTools?: string[];
                                    disabledTools?: string[];
                                } | {
                                    /** @enum {string} */
                                    transport: "http" | "sse";
                                    url: string;
                                    /** @constant */
                                    auth?: "oauth";
                                    bearerTokenEnvVar?: string;
                                    headers?: {
                                        [key: string]: string;
                                    };
                                    enabled?: boolean;
                                    startupTimeoutMs?: number;
                                    toolTimeoutMs?: number;
                                    enabledTools?: string[];
                                    disabledTools?: string[];
                                } | ({
                                    /** @constant */
                                    transport: "stdio";
                                    command: string;
                                    args?: string[];
                                    cwd?: string;
                                    runtime_id?: string;
                                    enabled?: boolean;
                                    startupTimeoutMs?: number;
                                    toolTimeoutMs?: number;
                                    enabledTools?: string[];
                                    disabledTools?: string[];
                                    envKeys?: string[];
                                } | {
                                    /** @enum {string} */
                                    transport: "http" | "sse";
                                    url: string;
                                    /** @constant */
                                    auth?: "oauth";
                                    bearerTokenEnvVar?: string;
                                    enabled?: boolean;
                                    startupTimeoutMs?: number;
                                    toolTimeoutMs?: number;
                                    enabledTools?: string[];
                                    disabledTools?: string[];
                                    headerKeys?: string[];
                                });
                                /** @enum {string} */
                                source: "global" | "plugin";
                                origin: string;
                                mutable: boolean;
                                plugin?: {
                                    id: string;
                                    name: string;
                                };
                            }[];
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error40408"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/mcp/servers:inspect": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Inspect configured MCP servers and connect to those that may need a sign-in */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        targets?: ({
                            /** @constant */
                            source: "global";
                            name: string;
                        } | {
                            /** @constant */
                            source: "plugin";
                            pluginId: string;
                            serverName: string;
                        })[];
                        cwd?: string;
                    };
                };
            };
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: {
                                serverId: string;
                                locator: {
                                    /** @constant */
                                    source: "global";
                                    name: string;
                                } | {
                                    /** @constant */
                                    source: "plugin";
                                    pluginId: string;
                                    serverName: string;
                                };
                                runtimeName: string;
                                canonicalUrl?: string;
                                /** @enum {string} */
                                origin: "global" | "plugin";
                                config: {
                                    /** @constant */
                                    transport: "stdio";
                                    command: string;
                                    args?: string[];
                                    cwd?: string;
                                    runtime_id?: string;
                                    enabled?: boolean;
                                    startupTimeoutMs?: number;
                                    toolTimeoutMs?: number;
                                    enabledTools?: string[];
                                    disabledTools?: string[];
                                    envKeys?: string[];
                                } | {
                                    /** @enum {string} */
                                    transport: "http" | "sse";
                                    url: string;
                                    /** @constant */
                                    auth?: "oauth";
                                    bearerTokenEnvVar?: string;
                                    enabled?: boolean;
                                    startupTimeoutMs?: number;
                                    toolTimeoutMs?: number;
                                    enabledTools?: string[];
                                    disabledTools?: string[];
                                    headerKeys?: string[];
                                };
                                enabled: boolean;
                                editable: boolean;
                                /** @enum {string} */
                                authStatus: "not-applicable" | "bearer-token" | "oauth-required" | "oauth-authorized" | "oauth-expired" | "unavailable";
                                checkedAt?: number;
                                error?: string;
                            }[];
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error40408"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/mcp/servers:test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Connect to an MCP server and list its tools, without storing them
         * @description Takes the name of an entry, or a config that is not stored.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        name?: string;
                        server?: {
                            name: string;
                            /** @constant */
                            transport: "stdio";
                            command: string;
                            args?: string[];
                            cwd?: string;
                            runtime_id?: string;
                            env?: {
                                [key: string]: string;
                            };
                            enabled?: boolean;
                            startupTimeoutMs?: number;
                            toolTimeoutMs?: number;
                            enabledTools?: string[];
                            disabledTools?: string[];
                        } | {
                            name: string;
                            /** @enum {string} */
                            transport: "http" | "sse";
                            url: string;
                            /** @constant */
                            auth?: "oauth";
                            bearerTokenEnvVar?: string;
                            headers?: {
                                [key: string]: string;
                            };
                            enabled?: boolean;
                            startupTimeoutMs?: number;
                            toolTimeoutMs?: number;
                            enabledTools?: string[];
                            disabledTools?: string[];
                        };
                        cwd?: string;
                    };
                };
            };
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: {
                                success: boolean;
                                output: string;
                            };
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error40408"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List sessions with filters, flat or grouped by workspace, without loading any */
        get: {
            parameters: {
                query?: {
                    "workspace.id"?: string[];
                    "activity.status"?: ("running" | "approval" | "question" | "failed" | "idle")[];
                    "meta.updated_after"?: number;
                    "meta.updated_before"?: number;
                    "meta.archived"?: "true" | "false" | "all";
                    "meta.has_prompt"?: "true" | "false";
                    view?: "flat" | "by_workspace";
                    "group.page_size"?: number;
                    sort?: "meta.updated_at_desc" | "meta.updated_at_asc" | "meta.created_at_desc";
                    include?: string;
                    fields?: string;
                    page_size?: number;
                    page?: number;
                    page_token?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: {
                                items: ({
                                    id: string;
                                    archived: boolean;
                                } | components["schemas"]["ListedSession"])[];
                                total: number;
                                has_more: boolean;
                                next_page_token: string | null;
                            } | {
                                groups: {
                                    workspace: {
                                        id: string;
                                        cwd: string | null;
                                    };
                                    sessions: ({
                                        id: string;
                                        archived: boolean;
                                    } | components["schemas"]["ListedSession"])[];
                                    total: number;
                                }[];
                                total: number;
                                has_more: boolean;
                                next_page_token: string | null;
                            };
                            request_id: string;
                        } | components["schemas"]["Error40001"] | components["schemas"]["Error40922"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/sessions:archive": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Archive sessions
         * @description Succeeds with a result for each distinct id. Continues after the client has disconnected.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        ids: string[];
                    };
                };
            };
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: {
                                results: ({
                                    id: string;
                                    /** @constant */
                                    ok: true;
                                } | {
                                    id: string;
                                    /** @constant */
                                    ok: false;
                                    error: {
                                        code: number;
                                        message: string;
                                    };
                                })[];
                                succeeded: number;
                                failed: number;
                            };
                            request_id: string;
                        } | components["schemas"]["Error40001"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/sessions:restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Un-archive sessions without loading them
         * @description Succeeds with a result for each distinct id. Continues after the client has disconnected.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        ids: string[];
                    };
                };
            };
            responses: {
                /** @description Success or failure, by `code` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            code: 0;
                            /** @constant */
                            msg: "success";
                            data: {
                                results: ({
                                    id: string;
                                    /** @constant */
                                    ok: true;
                                } | {
                                    id: string;
                                    /** @constant */
                                    ok: false;
                                    error: {
                                        code: number;
                                        message: string;
                                    };
                                })[];
                                succeeded: number;
                                failed: number;
                            };
                            request_id: string;
                        } | components["schemas"]["Error40001"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/asyncapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The WebSocket API as AsyncAPI 3.1 */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Success */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": Record<string, never>;
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** This document */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Success */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": Record<string, never>;
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        ApprovalRequest: {
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
        };
        AuthSummary: {
            models_ready: boolean;
            providers_count: number;
            managed_provider: {
                name: string;
                /** @enum {string} */
                status: "authenticated" | "expired" | "revoked" | "unauthenticated";
            } | null;
        };
        Capability: {
            id: string;
            pluginId?: string;
            displayName: string;
            description: string;
            supported: boolean;
            /** @enum {string} */
            state: "ready" | "partial" | "not_installed" | "unsupported";
            version?: string;
            steps: {
                id: string;
                /** @enum {string} */
                state: "ok" | "missing" | "failed";
                detail?: string;
                optional?: boolean;
            }[];
            install: components["schemas"]["CapabilityInstall"];
        };
        CapabilityInstall: {
            running: boolean;
            step?: string;
            percent?: number;
            error?: string;
            note?: string;
        };
        CatalogEntry: {
            id: string;
            name: string;
            wire_type: ("native" | "openai" | "openai_responses" | "anthropic" | "google-genai" | "vertexai") | null;
            base_url: string | null;
            guessed: boolean;
            needs_base_url: boolean;
            rejected: boolean;
            reject_reason: ("unknown-explicit-type" | "proprietary-sdk") | null;
            env_key: string | null;
            models: {
                id: string;
                name?: string;
                max_context_size: number;
                capabilities?: string[];
                reasoning: boolean;
            }[];
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
        ConfigPatch: {
            providers?: {
                [key: string]: unknown;
            };
            models?: {
                [key: string]: unknown;
            };
            experimental?: {
                [key: string]: boolean | null;
            } | null;
            default_provider?: string | null;
            default_model?: string | null;
            default_permission_mode?: string | null;
            plan_mode?: boolean | null;
            yolo?: boolean | null;
            default_plan_mode?: boolean | null;
            merge_all_available_skills?: boolean | null;
            telemetry?: boolean | null;
            auto_session_title?: boolean | null;
            hooks?: unknown[] | null;
            extra_skill_dirs?: string[] | null;
            thinking?: unknown;
            permission?: unknown;
            services?: unknown;
            loop_control?: unknown;
            background?: unknown;
            subagent?: unknown;
            secondary_model?: unknown;
        };
        Connection: {
            /** @description `ws_connection_id` of its `hello` frame */
            id: string;
            connected_at: string;
            remote_address: string | null;
            user_agent: string | null;
            has_client_hello: boolean;
            /** @description Ids of the sessions to whose events it is subscribed */
            subscriptions: string[];
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
        ContentPartInput: {
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
        Error40001: {
            /** @constant */
            code: 40001;
            msg: string;
            data: null;
            request_id: string;
            details?: {
                path: string;
                message: string;
            }[];
        };
        Error40003: {
            /** @constant */
            code: 40003;
            msg: string;
            data: null;
            request_id: string;
        };
        Error40004: {
            /** @constant */
            code: 40004;
            msg: string;
            data: null;
            request_id: string;
        };
        Error40005: {
            /** @constant */
            code: 40005;
            msg: string;
            data: null;
            request_id: string;
        };
        Error40110: {
            /** @constant */
            code: 40110;
            msg: string;
            data: null;
            request_id: string;
        };
        Error40111: {
            /** @constant */
            code: 40111;
            msg: string;
            data: null;
            request_id: string;
            details?: Record<string, never>;
        };
        Error40112: {
            /** @constant */
            code: 40112;
            msg: string;
            data: null;
            request_id: string;
            details?: Record<string, never>;
        };
        Error40113: {
            /** @constant */
            code: 40113;
            msg: string;
            data: null;
            request_id: string;
            details?: Record<string, never>;
        };
        Error40401: {
            /** @constant */
            code: 40401;
            msg: string;
            data: null;
            request_id: string;
        };
        Error40402: {
            /** @constant */
            code: 40402;
            msg: string;
            data: null;
            request_id: string;
        };
        Error40403: {
            /** @constant */
            code: 40403;
            msg: string;
            data: null;
            request_id: string;
        };
        Error40404: {
            /** @constant */
            code: 40404;
            msg: string;
            data: null;
            request_id: string;
        };
        Error40405: {
            /** @constant */
            code: 40405;
            msg: string;
            data: null;
            request_id: string;
        };
        Error40406: {
            /** @constant */
            code: 40406;
            msg: string;
            data: null;
            request_id: string;
        };
        Error40407: {
            /** @constant */
            code: 40407;
            msg: string;
            data: null;
            request_id: string;
        };
        Error40408: {
            /** @constant */
            code: 40408;
            msg: string;
            data: null;
            request_id: string;
        };
        Error40409: {
            /** @constant */
            code: 40409;
            msg: string;
            data: null;
            request_id: string;
        };
        Error40410: {
            /** @constant */
            code: 40410;
            msg: string;
            data: null;
            request_id: string;
        };
        Error40411: {
            /** @constant */
            code: 40411;
            msg: string;
            data: null;
            request_id: string;
        };
        Error40412: {
            /** @constant */
            code: 40412;
            msg: string;
            data: null;
            request_id: string;
        };
        Error40413: {
            /** @constant */
            code: 40413;
            msg: string;
            data: null;
            request_id: string;
        };
        Error40414: {
            /** @constant */
            code: 40414;
            msg: string;
            data: null;
            request_id: string;
        };
        Error40415: {
            /** @constant */
            code: 40415;
            msg: string;
            data: null;
            request_id: string;
        };
        Error40416: {
            /** @constant */
            code: 40416;
            msg: string;
            data: null;
            request_id: string;
        };
        Error40417: {
            /** @constant */
            code: 40417;
            msg: string;
            data: null;
            request_id: string;
        };
        Error40418: {
            /** @constant */
            code: 40418;
            msg: string;
            data: null;
            request_id: string;
        };
        Error40419: {
            /** @constant */
            code: 40419;
            msg: string;
            data: null;
            request_id: string;
        };
        Error40420: {
            /** @constant */
            code: 40420;
            msg: string;
            data: null;
            request_id: string;
        };
        Error40901: {
            /** @constant */
            code: 40901;
            msg: string;
            data: null;
            request_id: string;
        };
        Error40906: {
            /** @constant */
            code: 40906;
            msg: string;
            data: null;
            request_id: string;
        };
        Error40907: {
            /** @constant */
            code: 40907;
            msg: string;
            data: null;
            request_id: string;
        };
        Error40908: {
            /** @constant */
            code: 40908;
            msg: string;
            data: null;
            request_id: string;
        };
        Error40910: {
            /** @constant */
            code: 40910;
            msg: string;
            data: null;
            request_id: string;
        };
        Error40912: {
            /** @constant */
            code: 40912;
            msg: string;
            data: null;
            request_id: string;
        };
        Error40913: {
            /** @constant */
            code: 40913;
            msg: string;
            data: null;
            request_id: string;
        };
        Error40914: {
            /** @constant */
            code: 40914;
            msg: string;
            data: null;
            request_id: string;
        };
        Error40915: {
            /** @constant */
            code: 40915;
            msg: string;
            data: null;
            request_id: string;
        };
        Error40917: {
            /** @constant */
            code: 40917;
            msg: string;
            data: null;
            request_id: string;
        };
        Error40918: {
            /** @constant */
            code: 40918;
            msg: string;
            data: null;
            request_id: string;
        };
        Error40919: {
            /** @constant */
            code: 40919;
            msg: string;
            data: null;
            request_id: string;
        };
        Error40921: {
            /** @constant */
            code: 40921;
            msg: string;
            data: null;
            request_id: string;
        };
        Error40922: {
            /** @constant */
            code: 40922;
            msg: string;
            data: null;
            request_id: string;
        };
        Error40923: {
            /** @constant */
            code: 40923;
            msg: string;
            data: null;
            request_id: string;
        };
        Error40924: {
            /** @constant */
            code: 40924;
            msg: string;
            data: null;
            request_id: string;
        };
        Error40925: {
            /** @constant */
            code: 40925;
            msg: string;
            data: null;
            request_id: string;
        };
        Error40926: {
            /** @constant */
            code: 40926;
            msg: string;
            data: null;
            request_id: string;
        };
        Error40927: {
            /** @constant */
            code: 40927;
            msg: string;
            data: null;
            request_id: string;
        };
        Error40928: {
            /** @constant */
            code: 40928;
            msg: string;
            data: null;
            request_id: string;
            details?: Record<string, never>;
        };
        Error40929: {
            /** @constant */
            code: 40929;
            msg: string;
            data: null;
            request_id: string;
        };
        Error41001: {
            /** @constant */
            code: 41001;
            msg: string;
            data: null;
            request_id: string;
        };
        Error41002: {
            /** @constant */
            code: 41002;
            msg: string;
            data: null;
            request_id: string;
        };
        Error41301: {
            /** @constant */
            code: 41301;
            msg: string;
            data: null;
            request_id: string;
        };
        Error41302: {
            /** @constant */
            code: 41302;
            msg: string;
            data: null;
            request_id: string;
        };
        Error41304: {
            /** @constant */
            code: 41304;
            msg: string;
            data: null;
            request_id: string;
        };
        Error41305: {
            /** @constant */
            code: 41305;
            msg: string;
            data: null;
            request_id: string;
        };
        Error50001: {
            /** @constant */
            code: 50001;
            msg: string;
            data: null;
            request_id: string;
        };
        Error50003: {
            /** @constant */
            code: 50003;
            msg: string;
            data: null;
            request_id: string;
        };
        Error50004: {
            /** @constant */
            code: 50004;
            msg: string;
            data: null;
            request_id: string;
        };
        File: {
            id: string;
            name: string;
            media_type: string;
            size: number;
            created_at: string;
            expires_at?: string;
        };
        FileContent: {
            path: string;
            content: string;
            /** @enum {string} */
            encoding: "utf-8" | "base64";
            size: number;
            truncated: boolean;
            etag: string;
            mime: string;
            is_binary: boolean;
            language_id?: string;
            line_count?: number;
        };
        FileEntry: {
            path: string;
            name: string;
            /** @enum {string} */
            kind: "file" | "directory" | "symlink";
            size?: number;
            modified_at: string;
            etag: string;
            mime?: string;
            language_id?: string;
            is_symlink_to?: string;
            /** @enum {string} */
            git_status?: "clean" | "modified" | "added" | "deleted" | "renamed" | "untracked" | "ignored" | "conflicted";
        };
        FileHit: {
            path: string;
            name: string;
            /** @enum {string} */
            kind: "file" | "directory" | "symlink";
            score: number;
            match_positions: number[];
        };
        FileHits: {
            items: components["schemas"]["FileHit"][];
            truncated: boolean;
        };
        FileList: {
            items: components["schemas"]["FileEntry"][];
            truncated: boolean;
            children_by_path?: {
                [key: string]: components["schemas"]["FileEntry"][];
            };
        };
        FileLists: {
            results: {
                [key: string]: components["schemas"]["FileEntry"][];
            };
            truncated_paths: string[];
            partial_errors: {
                [key: string]: {
                    code: number;
                    msg: string;
                };
            };
        };
        GitDiff: {
            path: string;
            diff: string;
            truncated: boolean;
        };
        GitStatusReply: {
            /** @description Empty on a detached HEAD. */
            branch: string;
            ahead: number;
            behind: number;
            entries: {
                [key: string]: "modified" | "added" | "deleted" | "renamed" | "untracked" | "ignored" | "conflicted";
            };
            additions: number;
            deletions: number;
            pullRequest: components["schemas"]["PullRequest"] | null;
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
        GrepFile: {
            path: string;
            matches: components["schemas"]["GrepMatch"][];
        };
        GrepMatch: {
            line: number;
            /** @description Column of the first occurrence, in UTF-16 code units. */
            col: number;
            text: string;
            before: string[];
            after: string[];
        };
        GrepReply: {
            files: components["schemas"]["GrepFile"][];
            files_scanned: number;
            truncated: boolean;
            elapsed_ms: number;
        };
        HostDirectory: {
            path: string;
            parent: string | null;
            entries: {
                name: string;
                path: string;
                /** @constant */
                is_dir: true;
            }[];
        };
        InFlightTurn: {
            turn_id: number;
            assistant_text: string;
            assistant_offset: number;
            thinking_text: string;
            thinking_offset: number;
            running_tools: {
                tool_call_id: string;
                name: string;
                args?: unknown;
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
                last_progress?: {
                    /** @enum {string} */
                    kind: "stdout" | "stderr" | "progress" | "status";
                    text?: string;
                    percent?: number;
                };
            }[];
            current_prompt_id?: string;
        };
        ListedSession: {
            id: string;
            workspace: {
                id: string;
                cwd: string | null;
            };
            meta: {
                title: string | null;
                last_prompt: string | null;
                created_at: number;
                updated_at: number;
                archived: boolean;
                archived_at: number | null;
            };
            activity: {
                /** @enum {string} */
                status: "running" | "approval" | "question" | "failed" | "idle";
                model: string | null;
            };
            git?: {
                branch: string | null;
                pull_request: {
                    number: number;
                    /** @enum {string} */
                    state: "open" | "closed" | "merged";
                    url: string;
                } | null;
            };
        };
        LoginFlow: {
            flow_id: string;
            provider: string;
            /** @enum {string} */
            status: "pending" | "authenticated" | "denied" | "expired" | "cancelled";
            verification_uri: string;
            verification_uri_complete: string;
            user_code: string;
            expires_in: number;
            interval: number;
            expires_at: string;
            resolved_at?: string;
            error_message?: string;
        };
        MarketplaceEntry: {
            id: string;
            /** @enum {string} */
            tier: "official" | "curated" | "third-party";
            displayName: string;
            description?: string;
            homepage?: string;
            keywords?: string[];
            version?: string;
            source: string;
            installed?: {
                enabled: boolean;
                version?: string;
            };
            /** @constant */
            updateAvailable?: true;
            capabilityId?: string;
        };
        McpServer: {
            id: string;
            name: string;
            /** @enum {string} */
            transport: "stdio" | "http" | "sse";
            /** @enum {string} */
            status: "connected" | "connecting" | "disconnected" | "error";
            tool_count: number;
            last_error?: string;
        };
        Message: {
            id: string;
            session_id: string;
            /** @enum {string} */
            role: "user" | "assistant" | "tool" | "system";
            content: components["schemas"]["ContentPart"][];
            created_at: string;
            prompt_id?: string;
            parent_message_id?: string;
            metadata?: {
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
            } & {
                [key: string]: unknown;
            };
        };
        Meta: {
            server_version: string;
            capabilities: {
                /** @constant */
                websocket: true;
                /** @constant */
                file_upload: true;
                /** @constant */
                fs_query: true;
                /** @constant */
                mcp: true;
                /** @constant */
                tasks: true;
                /** @constant */
                terminal: true;
            };
            server_id: string;
            started_at: string;
            open_in_apps: ("finder" | "cursor" | "vscode" | "iterm" | "terminal")[];
            dangerous_bypass_auth: boolean;
            /** @enum {string} */
            backend: "v1" | "v2";
            web_title?: string;
            experimental_flags: {
                [key: string]: boolean;
            };
            features: {
                name: string;
                /** @enum {string} */
                state: "Pending" | "Activating" | "Active" | "Unloading" | "Failed";
                meta: {
                    [key: string]: unknown;
                };
            }[];
        };
        ModelItem: {
            provider: string;
            model: string;
            display_name: string;
            max_context_size: number;
            capabilities?: string[];
            support_efforts?: string[];
            default_effort?: string;
            upgrade?: {
                model: string;
                migration_markdown: string;
                retirement_at?: string;
            };
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
        Plugin: {
            id: string;
            displayName: string;
            version?: string;
            enabled: boolean;
            /** @enum {string} */
            state: "ok" | "error";
            skillCount: number;
            mcpServerCount: number;
            enabledMcpServerCount: number;
            hookCount: number;
            commandCount: number;
            hasErrors: boolean;
            /** @enum {string} */
            source: "local-path" | "zip-url" | "github";
            originalSource?: string;
            github?: {
                owner: string;
                repo: string;
                ref: {
                    /** @enum {string} */
                    kind: "branch" | "tag" | "sha";
                    value: string;
                };
                installedSha?: string;
            };
        };
        Prompt: {
            prompt_id: string;
            user_message_id: string;
            /** @enum {string} */
            status: "running" | "queued" | "blocked";
            content: components["schemas"]["ContentPart"][];
            created_at: string;
        };
        ProviderDetail: {
            id: string;
            type: string;
            base_url?: string;
            default_model?: string;
            has_api_key: boolean;
            /** @enum {string} */
            status: "connected" | "unconfigured" | "error";
            models: string[];
            api_key?: string;
        };
        ProviderItem: {
            id: string;
            type: string;
            base_url?: string;
            default_model?: string;
            has_api_key: boolean;
            /** @enum {string} */
            status: "connected" | "unconfigured" | "error";
            models: string[];
        };
        PullRequest: {
            number: number;
            /** @enum {string} */
            state: "open" | "merged" | "closed" | "draft";
            url: string;
        };
        QuestionRequest: {
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
        };
        Quota: {
            usages: {
                limit5h?: {
                    usedRatio: number;
                    resetAt?: string;
                };
                limit7d?: {
                    usedRatio: number;
                    resetAt?: string;
                };
                monthTotal?: {
                    usedRatio: number;
                    resetAt?: string;
                };
                monthCode?: {
                    usedRatio: number;
                    resetAt?: string;
                };
            };
            extraUsage: {
                balanceCents: number;
                totalCents: number;
                monthlyChargeLimitEnabled: boolean;
                monthlyChargeLimitCents: number;
                monthlyUsedCents: number;
                currency: string;
            } | null;
        };
        RefreshReport: {
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
        };
        RemoteConflict: {
            pid: number;
            local_origin: string;
            device_id: string;
            url: string;
            started_at: string;
        };
        RemoteDevice: {
            device_id: string;
            alias: string;
            /** @enum {string} */
            status: "online" | "offline";
            platform: string;
            client_version: string;
            local_base_url: string;
            created_at: string;
            updated_at: string;
            last_remote_access_at: string | null;
        };
        RemoteStatus: {
            enabled: boolean;
            /** @enum {string} */
            state: "off" | "starting" | "on" | "stopping";
            url?: string;
            device_id: string;
            device_name: string;
            error?: string;
            conflict?: components["schemas"]["RemoteConflict"];
        };
        SearchHit: {
            session_id: string;
            workspace_id: string;
            session_title: string;
            /** @description `""` for titles */
            agent_id: string;
            /** @enum {string} */
            role: "user" | "assistant" | "title";
            snippet: string;
            /** @description Milliseconds since the epoch */
            time: number;
            turn?: number;
            step_id?: string;
            score: number;
        };
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
        SessionSnapshot: {
            as_of_seq: number;
            epoch: string;
            session: components["schemas"]["Session"];
            messages: {
                items: components["schemas"]["Message"][];
                has_more: boolean;
            };
            in_flight_turn: components["schemas"]["InFlightTurn"] | null;
            subagents: components["schemas"]["SnapshotSubagent"][];
            pending_approvals: components["schemas"]["ApprovalRequest"][];
            pending_questions: components["schemas"]["QuestionRequest"][];
        };
        SessionStatus: {
            busy: boolean;
            model?: string;
            thinking_level: string;
            /** @enum {string} */
            permission: "manual" | "yolo" | "auto";
            plan_mode: boolean;
            swarm_mode: boolean;
            context_tokens: number;
            max_context_tokens?: number;
            context_usage?: number;
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
        SkillDescriptor: {
            name: string;
            description: string;
            path: string;
            /** @enum {string} */
            source: "project" | "user" | "extra" | "builtin";
            type?: string;
            disable_model_invocation?: boolean;
        };
        SnapshotSubagent: {
            id: string;
            session_id: string;
            /** @constant */
            kind: "subagent";
            description: string;
            /** @enum {string} */
            status: "running" | "completed" | "failed";
            created_at: string;
            started_at?: string;
            completed_at?: string;
            agent_id: string;
            subagent_type?: string;
            parent_tool_call_id?: string;
            model?: string;
            thinking_effort?: string;
            output_preview?: string;
            /** @enum {string} */
            subagent_phase: "queued" | "working" | "suspended" | "completed" | "failed";
            suspended_reason?: string;
            swarm_index?: number;
            run_in_background?: boolean;
        };
        StartedLogin: {
            flow_id: string;
            provider: string;
            /** @constant */
            status: "pending";
            verification_uri: string;
            verification_uri_complete: string;
            user_code: string;
            expires_in: number;
            interval: number;
            expires_at: string;
        } | {
            flow_id: string;
            provider: string;
            /** @constant */
            status: "authenticated";
        };
        Task: {
            id: string;
            session_id: string;
            /** @enum {string} */
            kind: "bash" | "subagent" | "tool";
            description: string;
            /** @enum {string} */
            status: "running" | "completed" | "failed" | "cancelled";
            created_at: string;
            started_at: string;
            completed_at?: string;
            command?: string;
            parent_tool_call_id?: string;
            model?: string;
            thinking_effort?: string;
            agent_id?: string;
            subagent_type?: string;
            output_preview?: string;
            output_bytes?: number;
        };
        ToolDescriptor: {
            name: string;
            description: string;
            input_schema: null;
            /** @enum {string} */
            source: "builtin" | "skill" | "mcp";
            mcp_server_id?: string;
            active?: boolean;
        };
        TranscriptAgent: {
            agentId: string;
            /** @enum {string} */
            type?: "main" | "sub" | "independent";
            parentAgentId?: string;
            label?: string;
            createdAt?: string;
            disposedAt?: string;
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
        TranscriptBatch: {
            seq: number;
            ops: components["schemas"]["TranscriptOp"][];
        };
        TranscriptCaller: {
            clientName?: string;
            clientId?: string;
            userAgent?: string;
            remoteAddress?: string;
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
        TranscriptSettingsChange: {
            id: string;
            message: string;
            at: string;
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
        TranscriptTodo: {
            todoId: string;
            items: {
                title: string;
                /** @enum {string} */
                status: "pending" | "in_progress" | "done";
            }[];
            updatedAt?: string;
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
        UserInfo: {
            userId: string;
            nickname: string;
            status: string;
            region: string;
            userLevel: number;
            userLevelName: string;
            domain: number;
            domainName: string;
            globalId?: string;
            bio?: string;
            avatar?: string;
            username?: string;
            email?: string;
            createdTime?: string;
            lastLoginTime?: string;
            phone?: {
                countryCode: string;
                number: string;
            };
        };
        Workspace: {
            id: string;
            root: string;
            name: string;
            created_at: string;
            last_opened_at: string;
            session_count: number;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listCapabilities: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success or failure, by `code` */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        /** @constant */
                        msg: "success";
                        data: {
                            capabilities: components["schemas"]["Capability"][];
                        };
                        request_id: string;
                    };
                };
            };
        };
    };
    getCapability: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                capability_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success or failure, by `code` */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        /** @constant */
                        msg: "success";
                        data: components["schemas"]["Capability"];
                        request_id: string;
                    } | components["schemas"]["Error40001"] | components["schemas"]["Error40418"];
                };
            };
        };
    };
    installCapability: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                capability_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success or failure, by `code` */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        /** @constant */
                        msg: "success";
                        data: components["schemas"]["Capability"];
                        request_id: string;
                    } | components["schemas"]["Error40001"] | components["schemas"]["Error40418"] | components["schemas"]["Error40924"] | components["schemas"]["Error40925"];
                };
            };
        };
    };
    fsBrowse: {
        parameters: {
            query?: {
                path?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success or failure, by `code` */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        /** @constant */
                        msg: "success";
                        data: components["schemas"]["HostDirectory"];
                        request_id: string;
                    } | components["schemas"]["Error40001"] | components["schemas"]["Error40409"] | components["schemas"]["Error40411"];
                };
            };
        };
    };
    fsContent: {
        parameters: {
            query: {
                path: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    etag?: string;
                    "last-modified"?: string;
                    "accept-ranges"?: string;
                    "content-range"?: string;
                    "content-length"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                    "application/json": components["schemas"]["Error40001"] | components["schemas"]["Error40409"] | components["schemas"]["Error40411"] | components["schemas"]["Error40906"];
                };
            };
            /** @description A part of it */
            206: {
                headers: {
                    etag?: string;
                    "last-modified"?: string;
                    "accept-ranges"?: string;
                    "content-range"?: string;
                    "content-length"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            /** @description Not modified */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    fsHome: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success or failure, by `code` */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        /** @constant */
                        msg: "success";
                        data: {
                            home: string;
                            recent_roots: string[];
                        };
                        request_id: string;
                    };
                };
            };
        };
    };
    fsMkdir: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    path: string;
                };
            };
        };
        responses: {
            /** @description Success or failure, by `code` */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        /** @constant */
                        msg: "success";
                        data: {
                            path: string;
                        };
                        request_id: string;
                    } | components["schemas"]["Error40001"] | components["schemas"]["Error40409"] | components["schemas"]["Error40411"] | components["schemas"]["Error40919"];
                };
            };
        };
    };
    listMcpServers: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success or failure, by `code` */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        /** @constant */
                        msg: "success";
                        data: {
                            servers: components["schemas"]["McpServer"][];
                        };
                        request_id: string;
                    };
                };
            };
        };
    };
    restartMcpServer: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                mcp_server_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success or failure, by `code` */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        /** @constant */
                        msg: "success";
                        data: {
                            /** @constant */
                            restarting: true;
                        };
                        request_id: string;
                    } | components["schemas"]["Error40001"] | components["schemas"]["Error40408"];
                };
            };
        };
    };
    listPlugins: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success or failure, by `code` */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        /** @constant */
                        msg: "success";
                        data: {
                            plugins: components["schemas"]["Plugin"][];
                        };
                        request_id: string;
                    };
                };
            };
        };
    };
    installPlugin: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    source: string;
                };
            };
        };
        responses: {
            /** @description Success or failure, by `code` */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        /** @constant */
                        msg: "success";
                        data: components["schemas"]["Plugin"];
                        request_id: string;
                    } | components["schemas"]["Error40001"] | components["schemas"]["Error40409"];
                };
            };
        };
    };
    disablePlugin: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                plugin_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success or failure, by `code` */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        /** @constant */
                        msg: "success";
                        data: {
                            /** @constant */
                            ok: true;
                        };
                        request_id: string;
                    } | components["schemas"]["Error40001"] | components["schemas"]["Error40419"];
                };
            };
        };
    };
    enablePlugin: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                plugin_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success or failure, by `code` */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        /** @constant */
                        msg: "success";
                        data: {
                            /** @constant */
                            ok: true;
                        };
                        request_id: string;
                    } | components["schemas"]["Error40001"] | components["schemas"]["Error40419"];
                };
            };
        };
    };
    removePlugin: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                plugin_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success or failure, by `code` */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        /** @constant */
                        msg: "success";
                        data: {
                            /** @constant */
                            ok: true;
                        };
                        request_id: string;
                    } | components["schemas"]["Error40001"] | components["schemas"]["Error40419"];
                };
            };
        };
    };
    listPluginMarketplace: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success or failure, by `code` */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        /** @constant */
                        msg: "success";
                        data: {
                            entries: components["schemas"]["MarketplaceEntry"][];
                        };
                        request_id: string;
                    };
                };
            };
        };
    };
    refreshProvider: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                provider_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": unknown;
            };
        };
        responses: {
            /** @description Success or failure, by `code` */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        /** @constant */
                        msg: "success";
                        data: components["schemas"]["RefreshReport"];
                        request_id: string;
                    } | components["schemas"]["Error40001"] | components["schemas"]["Error40412"];
                };
            };
        };
    };
    importCatalog: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    catalog_id: string;
                    id?: string;
                    api_key?: string;
                    base_url?: string;
                };
            };
        };
        responses: {
            /** @description Failure */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error40001"] | components["schemas"]["Error40003"] | components["schemas"]["Error40004"] | components["schemas"]["Error40417"] | components["schemas"]["Error50004"];
                };
            };
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        /** @constant */
                        msg: "success";
                        data: {
                            provider: components["schemas"]["ProviderItem"];
                            models_imported: number;
                        };
                        request_id: string;
                    };
                };
            };
        };
    };
    importRegistry: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    url: string;
                    api_key?: string;
                };
            };
        };
        responses: {
            /** @description Failure */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error40001"] | components["schemas"]["Error40003"] | components["schemas"]["Error40005"];
                };
            };
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        /** @constant */
                        msg: "success";
                        data: {
                            providers: components["schemas"]["ProviderItem"][];
                            models_imported: number;
                        };
                        request_id: string;
                    };
                };
            };
        };
    };
    refreshProviders: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": unknown;
            };
        };
        responses: {
            /** @description Success or failure, by `code` */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        /** @constant */
                        msg: "success";
                        data: components["schemas"]["RefreshReport"];
                        request_id: string;
                    } | components["schemas"]["Error40001"];
                };
            };
        };
    };
    refreshOauthProvider: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": unknown;
            };
        };
        responses: {
            /** @description Success or failure, by `code` */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        /** @constant */
                        msg: "success";
                        data: components["schemas"]["RefreshReport"];
                        request_id: string;
                    } | components["schemas"]["Error40001"];
                };
            };
        };
    };
    getRemoteControl: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success or failure, by `code` */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        /** @constant */
                        msg: "success";
                        data: components["schemas"]["RemoteStatus"];
                        request_id: string;
                    };
                };
            };
        };
    };
    setRemoteControl: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    enabled: boolean;
                };
            };
        };
        responses: {
            /** @description Success or failure, by `code` */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        /** @constant */
                        msg: "success";
                        data: components["schemas"]["RemoteStatus"];
                        request_id: string;
                    } | components["schemas"]["Error40001"] | components["schemas"]["Error40111"] | components["schemas"]["Error40112"] | components["schemas"]["Error40928"] | components["schemas"]["Error50001"];
                };
            };
        };
    };
    listRemoteDevices: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success or failure, by `code` */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        /** @constant */
                        msg: "success";
                        data: {
                            devices: components["schemas"]["RemoteDevice"][];
                            max_devices?: number;
                        };
                        request_id: string;
                    } | components["schemas"]["Error40111"] | components["schemas"]["Error40112"] | components["schemas"]["Error50001"];
                };
            };
        };
    };
    removeRemoteDevice: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success or failure, by `code` */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        /** @constant */
                        msg: "success";
                        data: {
                            /** @constant */
                            ok: true;
                        };
                        request_id: string;
                    } | components["schemas"]["Error40001"] | components["schemas"]["Error40111"] | components["schemas"]["Error40112"] | components["schemas"]["Error50001"];
                };
            };
        };
    };
    renameRemoteDevice: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    alias: string;
                };
            };
        };
        responses: {
            /** @description Success or failure, by `code` */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        /** @constant */
                        msg: "success";
                        data: {
                            /** @constant */
                            ok: true;
                        };
                        request_id: string;
                    } | components["schemas"]["Error40001"] | components["schemas"]["Error40111"] | components["schemas"]["Error40112"] | components["schemas"]["Error50001"];
                };
            };
        };
    };
    deactivateRemoteDevice: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success or failure, by `code` */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        /** @constant */
                        msg: "success";
                        data: {
                            /** @constant */
                            ok: true;
                        };
                        request_id: string;
                    } | components["schemas"]["Error40001"] | components["schemas"]["Error40111"] | components["schemas"]["Error40112"] | components["schemas"]["Error50001"];
                };
            };
        };
    };
    runSessionArchiveAction: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description Success or failure, by `code` */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        /** @constant */
                        msg: "success";
                        data: {
                            /** @constant */
                            archived: true;
                        };
                        request_id: string;
                    } | components["schemas"]["Error40001"] | components["schemas"]["Error40401"];
                };
            };
        };
    };
    downloadFile: {
        parameters: {
            query?: {
                runtime_id?: string;
            };
            header?: never;
            path: {
                session_id: string;
                path: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    etag?: string;
                    "last-modified"?: string;
                    "accept-ranges"?: string;
                    "content-range"?: string;
                    "content-length"?: string;
                    "content-disposition"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                    "application/json": components["schemas"]["Error40001"] | components["schemas"]["Error40401"] | components["schemas"]["Error40409"] | components["schemas"]["Error40411"] | components["schemas"]["Error40420"] | components["schemas"]["Error40906"] | components["schemas"]["Error40926"] | components["schemas"]["Error41304"];
                };
            };
            /** @description A part of it */
            206: {
                headers: {
                    etag?: string;
                    "last-modified"?: string;
                    "accept-ranges"?: string;
                    "content-range"?: string;
                    "content-length"?: string;
                    "content-disposition"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            /** @description Not modified */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    listPrompts: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success or failure, by `code` */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        /** @constant */
                        msg: "success";
                        data: {
                            active: components["schemas"]["Prompt"] | null;
                            queued: components["schemas"]["Prompt"][];
                        };
                        request_id: string;
                    } | components["schemas"]["Error40001"] | components["schemas"]["Error40401"];
                };
            };
        };
    };
    submitPrompt: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    content: components["schemas"]["ContentPartInput"][];
                    agent_id?: string;
                    prompt_id?: string;
                    skills?: {
                        name: string;
                        args?: string;
                    }[];
                    profile?: string;
                    model?: string;
                    thinking?: string;
                    /** @enum {string} */
                    permission_mode?: "manual" | "yolo" | "auto";
                    disabled_tools?: string[];
                    metadata?: {
                        [key: string]: unknown;
                    };
                    plan_mode?: boolean;
                    swarm_mode?: boolean;
                    goal_objective?: string;
                    /** @enum {string} */
                    goal_control?: "pause" | "resume" | "cancel";
                };
            };
        };
        responses: {
            /** @description Success or failure, by `code` */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        /** @constant */
                        msg: "success";
                        data: components["schemas"]["Prompt"];
                        request_id: string;
                    } | components["schemas"]["Error40001"] | components["schemas"]["Error40110"] | components["schemas"]["Error40111"] | components["schemas"]["Error40112"] | components["schemas"]["Error40113"] | components["schemas"]["Error40401"] | components["schemas"]["Error40407"] | components["schemas"]["Error40415"] | components["schemas"]["Error40901"] | {
                        /** @constant */
                        code: 40903;
                        msg: string;
                        data: {
                            /** @constant */
                            aborted: false;
                        };
                        request_id: string;
                    } | components["schemas"]["Error40912"] | components["schemas"]["Error40927"] | components["schemas"]["Error50003"];
                };
            };
        };
    };
    abortPrompt: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                session_id: string;
                prompt_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success or failure, by `code` */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        /** @constant */
                        msg: "success";
                        data: {
                            /** @constant */
                            aborted: true;
                        };
                        request_id: string;
                    } | components["schemas"]["Error40001"] | components["schemas"]["Error40401"] | components["schemas"]["Error40402"] | components["schemas"]["Error40901"] | {
                        /** @constant */
                        code: 40903;
                        msg: string;
                        data: {
                            /** @constant */
                            aborted: false;
                        };
                        request_id: string;
                    };
                };
            };
        };
    };
    steerPrompt: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                session_id: string;
                prompt_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success or failure, by `code` */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        /** @constant */
                        msg: "success";
                        data: {
                            /** @constant */
                            steered: true;
                            prompt_ids: string[];
                        };
                        request_id: string;
                    } | components["schemas"]["Error40001"] | components["schemas"]["Error40401"] | components["schemas"]["Error40402"] | components["schemas"]["Error40901"];
                };
            };
        };
    };
    steerPrompts: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    prompt_ids: string[];
                };
            };
        };
        responses: {
            /** @description Success or failure, by `code` */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        /** @constant */
                        msg: "success";
                        data: {
                            /** @constant */
                            steered: true;
                            prompt_ids: string[];
                        };
                        request_id: string;
                    } | components["schemas"]["Error40001"] | components["schemas"]["Error40401"] | components["schemas"]["Error40402"] | components["schemas"]["Error40901"];
                };
            };
        };
    };
    listSkills: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success or failure, by `code` */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        /** @constant */
                        msg: "success";
                        data: {
                            skills: components["schemas"]["SkillDescriptor"][];
                        };
                        request_id: string;
                    } | components["schemas"]["Error40001"] | components["schemas"]["Error40401"];
                };
            };
        };
    };
    activateSkill: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                session_id: string;
                skill_name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    args?: string;
                    attachments?: ({
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
                    })[];
                };
            };
        };
        responses: {
            /** @description Success or failure, by `code` */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        /** @constant */
                        msg: "success";
                        data: {
                            /** @constant */
                            activated: true;
                            skill_name: string;
                        };
                        request_id: string;
                    } | components["schemas"]["Error40001"] | components["schemas"]["Error40401"] | components["schemas"]["Error40407"] | components["schemas"]["Error40415"] | components["schemas"]["Error40901"] | components["schemas"]["Error40912"] | components["schemas"]["Error50003"];
                };
            };
        };
    };
    cancelTask: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                session_id: string;
                task_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success or failure, by `code` */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        /** @constant */
                        msg: "success";
                        data: {
                            /** @constant */
                            cancelled: true;
                        };
                        request_id: string;
                    } | components["schemas"]["Error40001"] | components["schemas"]["Error40401"] | components["schemas"]["Error40406"] | {
                        /** @constant */
                        code: 40904;
                        msg: string;
                        data: {
                            /** @constant */
                            cancelled: false;
                        };
                        request_id: string;
                        details?: Record<string, never>;
                    };
                };
            };
        };
    };
    detachTask: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                session_id: string;
                task_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success or failure, by `code` */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        /** @constant */
                        msg: "success";
                        data: {
                            detached: boolean;
                            /** @enum {string} */
                            status: "running" | "completed" | "failed" | "cancelled";
                        };
                        request_id: string;
                    } | components["schemas"]["Error40001"] | components["schemas"]["Error40401"] | components["schemas"]["Error40406"];
                };
            };
        };
    };
    closeTerminal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                session_id: string;
                terminal_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success or failure, by `code` */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        /** @constant */
                        msg: "success";
                        data: {
                            /** @constant */
                            closed: true;
                        };
                        request_id: string;
                    } | components["schemas"]["Error40001"] | components["schemas"]["Error40401"] | components["schemas"]["Error40414"] | components["schemas"]["Error40926"];
                };
            };
        };
    };
    workspaceFsSearch: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @default local */
                    runtime_id?: string;
                    workspace: string;
                    query: string;
                    /** @default 50 */
                    limit?: number;
                    include_globs?: string[];
                    exclude_globs?: string[];
                    /** @default true */
                    follow_gitignore?: boolean;
                };
            };
        };
        responses: {
            /** @description Success or failure, by `code` */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        /** @constant */
                        msg: "success";
                        data: components["schemas"]["FileHits"];
                        request_id: string;
                    } | components["schemas"]["Error40001"] | components["schemas"]["Error40409"] | components["schemas"]["Error40410"] | components["schemas"]["Error40411"] | components["schemas"]["Error40420"] | components["schemas"]["Error40926"] | components["schemas"]["Error41304"];
                };
            };
        };
    };
    workspaceFsSuggest: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @default local */
                    runtime_id?: string;
                    workspace: string;
                    query: string;
                    /** @default 50 */
                    limit?: number;
                    include_globs?: string[];
                    exclude_globs?: string[];
                    /** @default true */
                    follow_gitignore?: boolean;
                    /** @default false */
                    show_hidden?: boolean;
                };
            };
        };
        responses: {
            /** @description Success or failure, by `code` */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        /** @constant */
                        msg: "success";
                        data: components["schemas"]["FileHits"];
                        request_id: string;
                    } | components["schemas"]["Error40001"] | components["schemas"]["Error40409"] | components["schemas"]["Error40410"] | components["schemas"]["Error40411"] | components["schemas"]["Error40420"] | components["schemas"]["Error40926"] | components["schemas"]["Error41304"];
                };
            };
        };
    };
    listWorkspaceSkills: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                workspace_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success or failure, by `code` */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        code: 0;
                        /** @constant */
                        msg: "success";
                        data: {
                            skills: components["schemas"]["SkillDescriptor"][];
                        };
                        request_id: string;
                    } | components["schemas"]["Error40001"] | components["schemas"]["Error40410"];
                };
            };
        };
    };
}
