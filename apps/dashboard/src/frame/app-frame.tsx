import { Anchor, AppShell, Burger, Group, NativeSelect, NavLink, ScrollArea, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import {
  IconBook,
  IconBuildingCommunity,
  IconCreditCard,
  IconLogout,
  IconMessages,
  IconServer,
  IconUserCircle,
} from '@tabler/icons-react';
import { Link, Outlet, useNavigate, useRouter, useRouterState } from '@tanstack/react-router';
import { useEffect, type ComponentType } from 'react';
import { useTranslation } from 'react-i18next';
import { BillingBanners } from '../billing/billing-banners.js';
import { useAction, useRead } from '../api/api.js';
import { LookBanner } from '../operators/look-banner.js';
import { PasswordDialog } from '../session/password-dialog.js';
import {
  AccountProvider,
  chooseAccount,
  useRole,
  useSession,
  useSessionState,
  type ChosenAccount,
} from '../session/session.js';
import { AREAS, isAboutAccount, type Area } from './areas.js';
import { AwayBanner } from './away-banner.js';
import { FirstAccountPage } from '../account/first-account-page.js';
import { LanguageChoice } from './language-choice.js';
import { Loading } from './page.js';
import { SchemeSwitch } from './scheme-switch.js';
import { signInAddress } from './sign-in-address.js';

const ICONS: Record<Area['name'], ComponentType<{ size?: number }>> = {
  channels: IconMessages,
  billing: IconCreditCard,
  account: IconBuildingCommunity,
  profile: IconUserCircle,
  operators: IconServer,
};

/** Header, navigation and the page of who is signed in. */
export function AppFrame() {
  const { t } = useTranslation();
  const [isOpen, { toggle, close }] = useDisclosure();
  const path = useRouterState({ select: ({ location }) => location.pathname });
  useWayToSignIn();
  return (
    <AccountProvider whileReading={<Starting />}>
      {(account) => (
        <AppShell
          header={{ height: 56 }}
          navbar={{ width: 240, breakpoint: 'sm', collapsed: { mobile: !isOpen } }}
          padding="md"
          transitionDuration={0}
        >
          <a href="#content" className="skip-link">
            {t('skip')}
          </a>
          <AppShell.Header>
            <Group h="100%" px="md" justify="space-between" wrap="nowrap">
              <Group gap="sm" wrap="nowrap">
                <Burger
                  opened={isOpen}
                  onClick={toggle}
                  hiddenFrom="sm"
                  size="sm"
                  aria-label={t(isOpen ? 'menu.close' : 'menu.open')}
                />
                <Anchor component={Link} to="/" underline="never" c="inherit" fw={700}>
                  Dormouse
                </Anchor>
              </Group>
              <Group gap="xs" wrap="nowrap">
                <LanguageChoice />
                <SchemeSwitch />
              </Group>
            </Group>
          </AppShell.Header>
          <AppShell.Navbar p="sm" aria-label={t('menu.label')}>
            <Navigation account={account} onGo={close} />
          </AppShell.Navbar>
          <AppShell.Main id="content">
            <AwayBanner />
            <LookBanner />
            <BillingBanners key={account?.id ?? ''} />
            {account || !isAboutAccount(path) ? <Outlet key={account?.id ?? ''} /> : <FirstAccountPage />}
          </AppShell.Main>
          <PasswordDialog />
        </AppShell>
      )}
    </AccountProvider>
  );
}

/** Leaves for the sign-in as soon as the session is over, and comes back to the page afterwards. */
function useWayToSignIn(): void {
  const state = useSessionState();
  const { history } = useRouter();
  useEffect(() => {
    if (typeof state === 'string') history.push(signInAddress(state, history.location.href));
  }, [state, history]);
}

function Starting() {
  return (
    <>
      <AwayBanner />
      <Loading />
    </>
  );
}

function Navigation({ account, onGo }: { account: ChosenAccount | undefined; onGo: () => void }) {
  const { t } = useTranslation();
  const { user } = useSession() ?? {};
  const role = useRole();
  const path = useRouterState({ select: ({ location }) => location.pathname });
  return (
    <>
      {account && <AccountChoice account={account} />}
      <AppShell.Section grow component={ScrollArea}>
        {AREAS.filter(({ isFor }) => isFor(role, user?.operator === true)).map(({ name, to }) => {
          const Icon = ICONS[name];
          const isActive = path === to || path.startsWith(`${to}/`);
          return (
            <NavLink
              key={name}
              component={Link}
              to={to}
              active={isActive}
              aria-current={isActive ? 'page' : undefined}
              label={t(`areas.${name}`)}
              leftSection={<Icon size={18} aria-hidden />}
              onClick={onGo}
            />
          );
        })}
        <NavLink href="/docs" label={t('documentation')} leftSection={<IconBook size={18} aria-hidden />} />
      </AppShell.Section>
      <AppShell.Section>
        <SignedIn />
      </AppShell.Section>
    </>
  );
}

/** Shown to users who are in several accounts. */
function AccountChoice({ account }: { account: ChosenAccount }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const accounts = useRead('listAccounts', {}).data?.accounts ?? [];
  if (accounts.length < 2)
    return (
      <Text fw={600} p="xs">
        {account.name}
      </Text>
    );
  return (
    <NativeSelect
      label={t('account.choose')}
      mb="sm"
      value={account.id}
      data={accounts.map(({ id, name }) => ({ value: id, label: name }))}
      onChange={({ currentTarget: { value } }) => {
        chooseAccount(value);
        void navigate({ to: '/' });
      }}
    />
  );
}

function SignedIn() {
  const { t } = useTranslation();
  const session = useSession();
  // The page is loaded anew: nothing that it knew stays in memory.
  const signOut = useAction('signOut', { onDone: () => window.location.assign('/sign-in') });
  return (
    <Stack gap={2}>
      <Text size="sm" c="dimmed" px="xs" truncate>
        {session?.user.email}
      </Text>
      <NavLink
        component="button"
        type="button"
        label={t('user.signOut')}
        leftSection={<IconLogout size={18} aria-hidden />}
        onClick={() => signOut.mutate({})}
      />
    </Stack>
  );
}
