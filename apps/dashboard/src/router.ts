import { createRouter } from '@tanstack/react-router';
import { accountRoutes } from './account/account-routes.js';
import { billingRoutes } from './billing/billing-routes.js';
import { channelRoutes } from './channels/channel-routes.js';
import { appRoute, homeRoute, rootRoute } from './frame/frame-routes.js';
import { operatorRoutes } from './operators/operator-routes.js';
import { profileRoutes } from './profile/profile-routes.js';
import { signInRoutes } from './sign-in/sign-in-routes.js';

/** Every page. An area has its addresses in its own `*-routes.ts`; its pages are loaded when they are shown. */
export const router = createRouter({
  routeTree: rootRoute.addChildren([
    ...signInRoutes,
    appRoute.addChildren([
      homeRoute,
      ...accountRoutes,
      ...billingRoutes,
      ...channelRoutes,
      ...operatorRoutes,
      ...profileRoutes,
    ]),
  ]),
  defaultPreload: 'intent',
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
