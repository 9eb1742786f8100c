import { createRootRoute, createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { queryClient } from '../api/api.js';
import { accountsQuery, chosenOf, sessionQuery } from '../session/session.js';
import { signInAddress } from './sign-in-address.js';
import { BrokenPage, NotFoundPage } from './broken-page.js';
import { onceReachable } from './once-reachable.js';

export const rootRoute = createRootRoute({ errorComponent: BrokenPage, notFoundComponent: NotFoundPage });

/** Pages of who is signed in; everybody else is sent to the sign-in, and back to the page afterwards. */
export const appRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'app',
  beforeLoad: async ({ location }) => {
    const session = await queryClient.fetchQuery(sessionQuery());
    if (typeof session === 'string') throw redirect({ href: signInAddress(session, location.href) });
  },
  component: lazyRouteComponent(
    onceReachable(() => import('./app-frame.js')),
    'AppFrame',
  ),
});

/** Leads to the first area that a role sees; before a page is drawn, so that it overtakes no click. In no account: the frame's. */
export const homeRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/',
  beforeLoad: async () => {
    const account = chosenOf(await queryClient.fetchQuery(accountsQuery()));
    if (account) throw redirect({ to: account.role === 'billing' ? '/billing' : '/channels', replace: true });
  },
});
