/** The WebSocket in development; the built server takes upgrades in `entry.ts`. A plain request finds no endpoint here. */
import { defineWebSocketHandler } from 'h3';
import { useApp } from '#utils/app.ts';
import { developmentHooks } from '#utils/http/websocket.ts';

export default defineWebSocketHandler(developmentHooks(useApp));
