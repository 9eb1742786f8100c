import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { appRoute } from '../frame/frame-routes.js';
import { onceReachable } from '../frame/once-reachable.js';

const fleetRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/operators',
  component: lazyRouteComponent(
    onceReachable(() => import('./fleet-page.js')),
    'FleetPage',
  ),
});

const regionRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/operators/regions/$region',
  component: lazyRouteComponent(
    onceReachable(() => import('./region-page.js')),
    'RegionPage',
  ),
});

const accountsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/operators/accounts',
  component: lazyRouteComponent(
    onceReachable(() => import('./accounts-page.js')),
    'AccountsPage',
  ),
});

const accountRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/operators/accounts/$account',
  component: lazyRouteComponent(
    onceReachable(() => import('./account-page.js')),
    'AccountPage',
  ),
});

export const operatorRoutes = [fleetRoute, regionRoute, accountsRoute, accountRoute];
