import { Box, Skeleton, Text } from '@mantine/core';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import type { ManagedChannel } from '@dormouse/management-contract';
import { useLayoutEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { StateBadges } from '../channel-state.js';
import { LinkPaper } from '../../frame/links.js';

const ROW_HEIGHT_PX = 88;

interface ChannelRowsProps {
  total: number;
  at: (index: number) => ManagedChannel | undefined;
  onRows: (rows: { first: number; last: number }) => void;
}

/** As many rows as there are channels; only those near the window are in the page. */
export function ChannelRows({ total, at, onRows }: ChannelRowsProps) {
  const { t } = useTranslation('channels');
  const list = useRef<HTMLDivElement>(null);
  const [topPx, setTopPx] = useState(0);
  useLayoutEffect(() => setTopPx(list.current?.offsetTop ?? 0), []);
  const virtualizer = useWindowVirtualizer({
    count: total,
    estimateSize: () => ROW_HEIGHT_PX,
    overscan: 8,
    scrollMargin: topPx,
    onChange: ({ range }) => {
      if (range) onRows({ first: range.startIndex, last: range.endIndex });
    },
  });
  return (
    <div ref={list} role="list" aria-label={t('list.label')}>
      <Box pos="relative" h={virtualizer.getTotalSize()} role="presentation">
        {virtualizer.getVirtualItems().map(({ index, start }) => (
          <Box
            key={index}
            role="listitem"
            aria-setsize={total}
            aria-posinset={index + 1}
            data-index={index}
            ref={virtualizer.measureElement}
            pos="absolute"
            top={0}
            left={0}
            w="100%"
            pb="xs"
            style={{ transform: `translateY(${start - topPx}px)` }}
          >
            <ChannelRow channel={at(index)} />
          </Box>
        ))}
      </Box>
    </div>
  );
}

function ChannelRow({ channel }: { channel: ManagedChannel | undefined }) {
  const { t } = useTranslation('channels');
  if (!channel) return <Skeleton h={ROW_HEIGHT_PX - 10} />;
  const { id, name, region, phone, attention } = channel;
  return (
    <LinkPaper
      withBorder
      p="sm"
      to="/channels/$channel"
      params={{ channel: id }}
      className="channel-row"
      display="block"
    >
      <div className="channel-row-line">
        <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
          {name}
        </Text>
        <StateBadges channel={channel} />
      </div>
      <Text size="sm" c="dimmed">
        {[phone === undefined ? undefined : `+${phone}`, id, t(`region.${region}`)].filter(Boolean).join(' · ')}
      </Text>
      {attention && <Text size="sm">{t(`attention.${attention.what}.short`)}</Text>}
    </LinkPaper>
  );
}
