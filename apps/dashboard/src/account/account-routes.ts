import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { appRoute } from '../frame/frame-routes.js';
import { onceReachable } from '../frame/once-reachable.js';

const getParentRoute = () => appRoute;

export const accountRoutes = [
  createRoute({
    getParentRoute,
    path: '/account',
    component: lazyRouteComponent(
      onceReachable(() => import('./account-page.js')),
      'AccountPage',
    ),
  }),
  createRoute({
    getParentRoute,
    path: '/account/members',
    component: lazyRouteComponent(
      onceReachable(() => import('./members-page.js')),
      'MembersPage',
    ),
  }),
  createRoute({
    getParentRoute,
    path: '/account/keys',
    component: lazyRouteComponent(
      onceReachable(() => import('./keys-page.js')),
      'KeysPage',
    ),
  }),
  createRoute({
    getParentRoute,
    path: '/account/audit',
    component: lazyRouteComponent(
      onceReachable(() => import('./audit-page.js')),
      'AuditPage',
    ),
  }),
];
