import { createApp } from 'vue';
import App from './components/App.vue';
import { createWorkbench, workbenchKey } from './stores/workbench.ts';
import './styles/base.css';
import './styles/code.css';

createApp(App).provide(workbenchKey, createWorkbench()).mount('#app');
