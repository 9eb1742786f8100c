import { Alert, Anchor, Stack, Text } from '@mantine/core';
import { IconCreditCard } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useRead } from '../api/api.js';
import { useFormats } from '../i18n/formats.js';
import { useRole } from '../session/session.js';
import { bannersOf, type Banner } from './banners.js';

const READ_EVERY_MS = 30_000;

/** On every page, for those who may pay: what is about to stop, or has stopped, and how it goes on. */
export function BillingBanners() {
  const role = useRole();
  const mayPay = role === 'owner' || role === 'billing';
  const { data } = useRead('getBilling', {}, { enabled: mayPay, everyMs: READ_EVERY_MS });
  if (!mayPay || !data) return null;
  const banners = bannersOf(data, Date.now() / 1_000);
  return (
    <Stack gap="xs" mb={banners.length > 0 ? 'md' : 0} role="status">
      {banners.map((banner) => (
        <BannerNote key={banner.what} banner={banner} />
      ))}
    </Stack>
  );
}

function BannerNote({ banner }: { banner: Banner }) {
  const { t } = useTranslation('billing');
  const { title, text } = useWords(banner);
  const url = 'payment' in banner ? banner.payment.url : null;
  const isStopped = banner.what === 'unpaid' || banner.what === 'beyond';
  return (
    <Alert color={isStopped ? 'red' : 'yellow'} icon={<IconCreditCard aria-hidden />} title={title}>
      <Text size="sm">{text}</Text>
      {url === null ? (
        <Anchor component={Link} to="/billing" size="sm">
          {t('banners.go')}
        </Anchor>
      ) : (
        <Anchor href={url} size="sm">
          {t('banners.pay')}
        </Anchor>
      )}
    </Alert>
  );
}

function useWords(banner: Banner): { title: string; text: string } {
  const { t } = useTranslation('billing');
  const { dateTime, date, money } = useFormats();
  const amount = 'payment' in banner ? money(banner.payment.amount, banner.payment.currency) : '';
  switch (banner.what) {
    case 'grace': {
      const words = { amount, date: dateTime(banner.until), count: banner.refused };
      return { title: t('banners.graceTitle'), text: t('banners.grace', words) };
    }
    case 'unpaid':
      return { title: t('banners.unpaidTitle'), text: t('banners.unpaid', { amount, count: banner.refused }) };
    case 'waiting':
      return { title: t('banners.waitingTitle'), text: t('banners.waiting', { amount }) };
    case 'beyond':
      return { title: t('banners.beyondTitle'), text: t('banners.beyond', { count: banner.refused }) };
    case 'ending': {
      const words = { date: date(banner.at), count: banner.refused };
      return { title: t('banners.endingTitle'), text: t('banners.ending', words) };
    }
  }
}
