import { createApp } from 'vue';
import App from './components/App.vue';
import { gatherFeatures } from './features/feature.ts';
import { features } from './features/index.ts';
import { createWorkbench, workbenchKey } from './stores/workbench.ts';
import './styles/base.css';
import './styles/code.css';

createApp(App)
  .provide(workbenchKey, createWorkbench(gatherFeatures(features)))
  .mount('#app');
