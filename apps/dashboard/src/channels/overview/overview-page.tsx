import { Stack, Table, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { LinkNumber, isLinked } from '../../first-run/link-number.js';
import { useGatewayUrl } from '../../first-run/use-gateway-url.js';
import { AttentionNote } from '../channel-state.js';
import { useMayChange } from '../may-change.js';
import { useChannel } from '../shown-channel.js';
import { useTimes } from '../times.js';
import { RenameForm } from './rename-form.js';
import { LinkAnchor } from '../../frame/links.js';

/** What the channel does now, and what is next. */
export function OverviewPage() {
  const { t } = useTranslation('channels');
  const mayChange = useMayChange();
  const channel = useChannel();
  const needsLink = mayChange && !isLinked(channel) && channel.state !== 'unknown';
  return (
    <Stack gap="md">
      <Text>{t(`stateHelp.${channel.state}`)}</Text>
      <AttentionNote channel={channel} />
      {needsLink && channel.state === 'linking' && <LinkNumber channel={channel} />}
      <Facts />
      {mayChange && <RenameForm key={channel.name} channel={channel} />}
      <LinkAnchor to="/channels/$channel/start" params={{ channel: channel.id }} size="sm">
        {t('overview.firstMessage')}
      </LinkAnchor>
    </Stack>
  );
}

function Facts() {
  const { t } = useTranslation('channels');
  const { moment } = useTimes();
  const channel = useChannel();
  const gatewayUrl = useGatewayUrl(channel.region);
  const { phone, phone_name: phoneName, since, wake_at: wakeAt, standing } = channel;
  const facts: (readonly [string, string | undefined])[] = [
    [t('overview.number'), phone === undefined ? undefined : `+${phone}`],
    [t('overview.phoneName'), phoneName],
    [t('overview.state'), t(`state.${channel.state}`)],
    [t('overview.since'), since === undefined ? undefined : moment(since * 1_000)],
    [t('overview.wakes'), wakeAt === undefined ? undefined : moment(wakeAt * 1_000)],
    [t('overview.standing'), standing === undefined ? undefined : t(`standing.${standing}`)],
    [t('overview.region'), t(`region.${channel.region}`)],
    [t('overview.address'), gatewayUrl],
    [t('overview.id'), channel.id],
    [t('overview.created'), moment(channel.created_at * 1_000)],
  ];
  return (
    <Table variant="vertical" withTableBorder layout="auto">
      <Table.Tbody>
        {facts.map(
          ([name, value]) =>
            value !== undefined && (
              <Table.Tr key={name}>
                <Table.Th scope="row">{name}</Table.Th>
                <Table.Td style={{ overflowWrap: 'anywhere' }}>{value}</Table.Td>
              </Table.Tr>
            ),
        )}
      </Table.Tbody>
    </Table>
  );
}
