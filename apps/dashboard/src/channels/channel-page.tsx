import './channels.css';
import { Group, Stack, Text } from '@mantine/core';
import { getRouteApi, Outlet } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { ApiFailure, useRead } from '../api/api.js';
import { NotFoundPage } from '../frame/broken-page.js';
import { FailureNote } from '../frame/failure-note.js';
import { Loading, Page } from '../frame/page.js';
import { StateBadges } from './channel-state.js';
import { ChannelContext } from './shown-channel.js';
import { LinkAnchor, LinkButton } from '../frame/links.js';

const route = getRouteApi('/app/channels/$channel');
const REFRESH_MS = 3_000;

const PARTS = [
  ['overview', '/channels/$channel'],
  ['start', '/channels/$channel/start'],
  ['webhooks', '/channels/$channel/webhooks'],
  ['events', '/channels/$channel/events'],
  ['settings', '/channels/$channel/settings'],
  ['access', '/channels/$channel/access'],
] as const;

/** Heading and parts of one channel. */
export function ChannelPage() {
  const { t } = useTranslation('channels');
  const { channel: id } = route.useParams();
  const { data: channel, error, isPending } = useRead('getChannel', { path: { id } }, { everyMs: REFRESH_MS });
  if (error instanceof ApiFailure && error.status === 404) return <NotFoundPage />;
  if (!channel) return isPending ? <Loading /> : <FailureNote error={error} />;
  return (
    <ChannelContext value={channel}>
      <Page
        key={id}
        title={channel.name}
        about={
          <Text component="span" inherit>
            <LinkAnchor to="/channels" inherit>
              {t('list.title')}
            </LinkAnchor>{' '}
            / {id}
          </Text>
        }
        actions={<StateBadges channel={channel} />}
      >
        <Stack gap="md">
          <nav aria-label={t('parts.label')}>
            <Group gap={4}>
              {PARTS.map(([name, to]) => (
                <LinkButton
                  key={name}
                  to={to}
                  params={{ channel: id }}
                  activeOptions={{ exact: name === 'overview' }}
                  activeProps={{ 'aria-current': 'page', variant: 'light' }}
                  variant="subtle"
                  size="compact-md"
                >
                  {t(`parts.${name}`)}
                </LinkButton>
              ))}
            </Group>
          </nav>
          <Outlet />
        </Stack>
      </Page>
    </ChannelContext>
  );
}
