import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { appRoute } from '../frame/frame-routes.js';
import { onceReachable } from '../frame/once-reachable.js';

/** How somebody comes back from the page on which the first numbers are bought. */
type FromCheckout = 'done' | 'cancelled';

export const billingRoutes = [
  createRoute({
    getParentRoute: () => appRoute,
    path: '/billing',
    validateSearch: ({ checkout }: Record<string, unknown>): { checkout?: FromCheckout } =>
      checkout === 'done' || checkout === 'cancelled' ? { checkout } : {},
    component: lazyRouteComponent(
      onceReachable(() => import('./billing-page.js')),
      'BillingPage',
    ),
  }),
];
