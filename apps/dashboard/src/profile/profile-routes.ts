import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { appRoute } from '../frame/frame-routes.js';
import { onceReachable } from '../frame/once-reachable.js';

export const profileRoutes = [
  createRoute({
    getParentRoute: () => appRoute,
    path: '/profile',
    component: lazyRouteComponent(
      onceReachable(() => import('./profile-page.js')),
      'ProfilePage',
    ),
  }),
];
