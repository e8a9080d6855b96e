# What bench/run and bench/fleet have in common: where it was measured, and how it comes into the pages.
package Page;
use strict;
use warnings;
use Exporter qw(import);
use File::Basename qw(basename);
use List::Util qw(first min);

our @EXPORT_OK = qw(commit draw fail machine median note number package_version put rank slurp which);

sub note { print STDERR @_, "\n"; return }
sub fail { my ($why) = @_; note(basename($0), ": $why"); exit 99 }
sub slurp { my ($file) = @_; open my $in, '<', $file or return ''; local $/; return scalar <$in> // '' }
sub which { my ($name, @more) = @_; return first { -x } map {"$_/$name"} @more, split /:/, $ENV{PATH} }

# The share P (0 to 1) of all values is at most that; between two of them it lies on the line.
sub rank {
    my ($p, @all) = @_;
    @all = sort { $a <=> $b } @all or return;
    my $at = $p * $#all;
    my $low = int $at;
    return $all[$low] + ($at - $low) * ($all[min($low + 1, $#all)] - $all[$low]);
}

sub median { return scalar rank(0.5, grep {defined} @_) }

sub number {
    my ($x) = @_;
    return '–' if !defined $x;
    my $text = sprintf $x >= 1000 ? '%.0f' : $x >= 100 ? '%.0f' : $x >= 10 ? '%.1f' : '%.2f', $x;
    1 while $text =~ s/^(\d+)(\d{3})/$1,$2/;
    return $text;
}

# --- where it was measured -------------------------------------------------------------------------------------------

sub commit {
    my ($src) = @_;
    my $commit = `git -C '$src' rev-parse --short=12 HEAD 2>/dev/null`;
    chomp $commit;
    my $changed = `git -C '$src' status --porcelain --untracked-files=no -- lib recipes include bench 2>/dev/null`;
    return $commit eq '' ? 'unknown' : $commit . ($changed ne '' ? ', with changes' : '');
}

sub machine {
    my ($model) = slurp('/proc/cpuinfo') =~ /^model name\s*: (.*)$/m;
    my ($kib) = slurp('/proc/meminfo') =~ /^MemTotal:\s*(\d+)/m;
    my ($os) = slurp('/etc/os-release') =~ /^PRETTY_NAME="?([^"\n]*)/m;
    my $cpus = () = slurp('/proc/cpuinfo') =~ /^processor\s*:/mg;
    my ($kernel) = slurp('/proc/sys/kernel/osrelease') =~ /^([\d.]+)/;
    return sprintf '%d processors (%s), %.0f GiB, %s, Linux %s', $cpus, $model // 'unknown', $kib / 1048576,
        $os // 'unknown', $kernel;
}

sub package_version {
    my ($package) = @_;
    my $version = `dpkg-query -W -f='\${Version}' $package 2>/dev/null`;
    return $version =~ /^(?:\d+:)?([\d.]+\d)/ ? $1 : undef;
}

# --- the pages -------------------------------------------------------------------------------------------------------

# Each block of PAGE stands between a comment with the name of TOOL and the block's, and one that ends it.
sub put {
    my ($page, $tool, %blocks) = @_;
    my $text = slurp($page) or fail("no $page");
    for my $name (sort keys %blocks) {
        my $block = qr/^(<!-- \Q$tool\E \Q$name\E -->)\n(.*?)^<!-- end -->\n/ms;
        $text =~ s/$block/$1\n$blocks{$name}<!-- end -->\n/ or fail("$page has no block '$name'");
    }
    open my $out, '>', $page or fail("$page: $!");
    print $out $text;
    close $out or fail("$page: $!");
    return;
}

# FILE is a picture of ROWS, which are lists of cells: the first is the label or x, each other one a value of the
# series with the name in SERIES; undef: there is none. STYLE is gnuplot's, its lines and where the labels are from.
sub draw {
    my ($file, $title, $series, $rows, %style) = @_;
    my $gnuplot = which('gnuplot') or return note(basename($0), ': no gnuplot: no plots');
    my $data = join '', map { join("\t", map { defined ? $_ : '?' } @$_) . "\n" } @$rows;
    my @parts = map { sprintf '$data using %s title "%s"', $style{using}->($_ + 2), $series->[$_] } 0 .. $#$series;
    open my $g, '|-', $gnuplot or fail("gnuplot: $!");
    print $g "set terminal svg size 1000,480 font 'sans,12' background 'white'\nset output '$file'\n"
        . "\$data << END_OF_DATA\n${data}END_OF_DATA\nset datafile missing '?'\nset title '$title'\n$style{lines}\n"
        . 'plot ' . join(', ', @parts) . "\n";
    close $g or fail('gnuplot fails');
    return;
}

1;
