import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { appRoute } from '../frame/frame-routes.js';

export const channelRoutes = [
  createRoute({
    getParentRoute: () => appRoute,
    path: '/channels',
    component: lazyRouteComponent(() => import('./channel-list-page.js'), 'ChannelListPage'),
  }),
];
