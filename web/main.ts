import { createApp } from 'vue';
import App from './shell/App.vue';
import { gatherFeatures } from './features/feature.ts';
import { features } from './features/index.ts';
import { startNotices } from './features/waiting/notices.ts';
import { useAppearance } from './stores/appearance.ts';
import { startTokens } from './stores/token.ts';
import { createWorkbench, workbenchKey } from './stores/workbench.ts';
import './styles/tokens.css';
import './styles/base.css';
import './styles/code.css';
import './ui/text-buttons.css';

/** The browser can handle input and paint between two parts of the start. */
const nextTask = () => new Promise((resolve) => setTimeout(resolve));

useAppearance();
const tokens = await startTokens();
await nextTask();
const workbench = createWorkbench(gatherFeatures(features), tokens);
startNotices(workbench);
await nextTask();
createApp(App).provide(workbenchKey, workbench).mount('#app');

// Menus open immediately, and delay nothing. Safari has no idle callbacks. A failure is ignored: the first menu loads
// its code again.
const whenIdle = 'requestIdleCallback' in globalThis ? requestIdleCallback : setTimeout;
whenIdle(() => void import('./ui/Menu.vue').catch(() => undefined));
