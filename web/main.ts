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

useAppearance();
const tokens = await startTokens();
const workbench = createWorkbench(gatherFeatures(features), tokens);
startNotices(workbench);
createApp(App).provide(workbenchKey, workbench).mount('#app');
