/* Take a lock in C++, say which token it came with, release it: mutex [HOSTS [PATH]]. */
#include <iostream>
#include <paddock.hpp>

static void work(paddock::mutex &mutex)
{
    paddock::guard held(mutex); /* or std::unique_lock, std::lock_guard, std::scoped_lock */
    std::cout << "held, token " << mutex.token() << std::endl;
    /* The work: give the token to what you write to. A lock that was lost meanwhile throws at the end of the scope. */
}

int main(int argc, char **argv)
{
    try {
        paddock::client client(argc > 1 ? argv[1] : "127.0.0.1:2181");
        paddock::mutex mutex(client, argc > 2 ? argv[2] : "/locks/orders");
        work(mutex);
    } catch (const std::exception &error) {
        std::cerr << "mutex: " << error.what() << std::endl;
        return 1;
    }
}
