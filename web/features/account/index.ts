import { defineAsyncComponent } from 'vue';
import type { Feature } from '../feature.ts';

/** Loaded when it is first opened. */
const AccountView = defineAsyncComponent(() => import('./AccountView.vue'));

export const account: Feature = {
  mainViews: [{ id: 'account', label: 'Account', component: AccountView, setUp: 'Log in' }],
};
