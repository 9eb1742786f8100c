import { Alert, Anchor, Badge, Group, Stack, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import type { Attention, ChannelState, ManagedChannel } from '@dormouse/management-contract';
import { useTranslation } from 'react-i18next';
import { useTimes } from './times.js';
import { LinkButton } from '../frame/links.js';

const COLORS: Record<ChannelState, string> = {
  connected: 'moss',
  asleep: 'moss',
  waking: 'blue',
  connecting: 'blue',
  linking: 'blue',
  not_linked: 'gray',
  stopped: 'red',
  unknown: 'gray',
};

/** What the channel does, in words; and whether it is paid for, if it is not. */
export function StateBadges({ channel }: { channel: Pick<ManagedChannel, 'state' | 'standing'> }) {
  const { t } = useTranslation('channels');
  const { state, standing } = channel;
  return (
    <Group gap="xs">
      <Badge variant="light" color={COLORS[state]} tt="none">
        {t(`state.${state}`)}
      </Badge>
      {standing !== undefined && standing !== 'good' && (
        <Badge variant="light" color="red" tt="none">
          {t(`standing.${standing}`)}
        </Badge>
      )}
    </Group>
  );
}

/** Where what a person must do is done. `undefined`: not on these pages. */
const NEXT_STEP: Partial<Record<Attention, 'link' | 'settings' | 'billing'>> = {
  link: 'link',
  link_again: 'link',
  unlinked: 'link',
  phone_outdated: 'link',
  damaged: 'link',
  banned: 'link',
  proxy_unreachable: 'settings',
  proxy_refused: 'settings',
  pay: 'billing',
};

/** Why a person must act, and the next step. */
export function AttentionNote({ channel }: { channel: ManagedChannel }) {
  const { t } = useTranslation('channels');
  const { moment } = useTimes();
  const { attention } = channel;
  if (!attention) return null;
  const step = NEXT_STEP[attention.what];
  return (
    <Alert
      color={attention.what === 'link' ? 'blue' : 'yellow'}
      icon={<IconAlertTriangle aria-hidden />}
      title={t(`attention.${attention.what}.title`)}
    >
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{t(`attention.${attention.what}.text`)}</Text>
        {attention.since !== undefined && (
          <Text size="xs">{t('since', { time: moment(attention.since * 1_000) })}</Text>
        )}
        {attention.reason !== undefined && <Text size="xs">{t('supportReason', { reason: attention.reason })}</Text>}
        {step === 'link' && (
          <LinkButton to="/channels/$channel/start" params={{ channel: channel.id }} size="xs">
            {t('step.link')}
          </LinkButton>
        )}
        {step === 'settings' && (
          <LinkButton to="/channels/$channel/settings" params={{ channel: channel.id }} size="xs">
            {t('step.settings')}
          </LinkButton>
        )}
        {step === 'billing' && <Anchor href="/billing">{t('step.billing')}</Anchor>}
      </Stack>
    </Alert>
  );
}
