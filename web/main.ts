import { createApp } from 'vue';
import App from './shell/App.vue';
import { gatherFeatures } from './features/feature.ts';
import { features } from './features/index.ts';
import { startTokens } from './stores/token.ts';
import { createWorkbench, workbenchKey } from './stores/workbench.ts';
import './styles/tokens.css';
import './styles/base.css';
import './styles/code.css';

const tokens = await startTokens();
createApp(App)
  .provide(workbenchKey, createWorkbench(gatherFeatures(features), tokens))
  .mount('#app');
