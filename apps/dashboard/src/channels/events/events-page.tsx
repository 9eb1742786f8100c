import { SegmentedControl, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { LiveList } from './live-list.js';
import { StoredList } from './stored-list.js';
import { useChannel } from '../shown-channel.js';

/** The events of a channel: as they happen, or those that are stored. */
export function EventsPage() {
  const { t } = useTranslation('events');
  const { id } = useChannel();
  const [way, setWay] = useState('live');
  return (
    <Stack gap="md" align="stretch">
      <SegmentedControl
        transitionDuration={0}
        aria-label={t('way')}
        value={way}
        onChange={setWay}
        data={[
          { value: 'live', label: t('live.name') },
          { value: 'stored', label: t('stored.name') },
        ]}
        style={{ alignSelf: 'flex-start' }}
      />
      <Text size="sm">{t(way === 'live' ? 'live.about' : 'stored.about')}</Text>
      {way === 'live' ? <LiveList channelId={id} /> : <StoredList channelId={id} />}
    </Stack>
  );
}
