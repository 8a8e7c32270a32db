/** The page of the parts, for their test and their pictures; it is no part of the production bundle. */
import { createApp } from 'vue';
import '../styles/tokens.css';
import '../styles/base.css';
import StoryPage from './StoryPage.vue';

createApp(StoryPage).mount('#app');
