import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { appRoute } from '../frame/frame-routes.js';

const getParentRoute = () => appRoute;

export const accountRoutes = [
  createRoute({
    getParentRoute,
    path: '/account',
    component: lazyRouteComponent(() => import('./account-page.js'), 'AccountPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/account/members',
    component: lazyRouteComponent(() => import('./members-page.js'), 'MembersPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/account/keys',
    component: lazyRouteComponent(() => import('./keys-page.js'), 'KeysPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/account/audit',
    component: lazyRouteComponent(() => import('./audit-page.js'), 'AuditPage'),
  }),
];
