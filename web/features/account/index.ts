import { defineAsyncComponent } from 'vue';
import { t } from '../../messages/messages.ts';
import type { Feature } from '../feature.ts';

/** Loaded when it is first opened. */
const AccountView = defineAsyncComponent(() => import('./AccountView.vue'));

export const account: Feature = {
  mainViews: [{ id: 'account', label: t('account.title'), component: AccountView, setUp: t('account.logIn') }],
};
